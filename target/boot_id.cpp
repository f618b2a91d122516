#include "target/boot_id.h"

#include <cerrno>
#include <fstream>

#include "common/error.h"

namespace rdmablk::target {

std::string read_boot_id() {
  constexpr const char* kFile = "/proc/sys/kernel/random/boot_id";
  std::ifstream file(kFile);
  std::string id;
  if (!std::getline(file, id) || id.empty()) throw SystemError(std::string("read ") + kFile, EIO);
  return id;
}

}  // namespace rdmablk::target
