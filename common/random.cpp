#include "common/random.h"

#include <openssl/rand.h>

#include "common/error.h"

namespace rdmablk {

void fill_random(std::span<std::byte> buffer) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(buffer.data()),
                 static_cast<int>(buffer.size())) != 1) {
    throw Error("cannot get random numbers from the system's generator");
  }
}

}  // namespace rdmablk
