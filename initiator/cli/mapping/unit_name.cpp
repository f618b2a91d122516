#include "initiator/cli/mapping/unit_name.h"

#include <fmt/format.h>

namespace rdmablk::cli::mapping {

std::string escape_path(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) return "-";
  std::string name;
  for (const char c : path) {
    const bool is_letter_or_digit =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool stays = is_letter_or_digit || c == ':' || c == '_' || (c == '.' && !name.empty());
    if (c == '/') {
      name += '-';
    } else if (stays) {
      name += c;
    } else {
      name += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return name;
}

}  // namespace rdmablk::cli::mapping
