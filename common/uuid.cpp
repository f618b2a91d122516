#include "common/uuid.h"

#include <fmt/format.h>

#include "common/random.h"

namespace rdmablk {

protocol::Uuid make_uuid() {
  auto uuid = random_bytes<protocol::Uuid>();
  uuid[6] = (uuid[6] & std::byte{0x0f}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3f}) | std::byte{0x80};
  return uuid;
}

std::string format_uuid(const protocol::Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", std::to_integer<unsigned>(uuid[i]));
  }
  return text;
}

}  // namespace rdmablk
