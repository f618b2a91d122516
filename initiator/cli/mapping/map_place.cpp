#include "initiator/cli/mapping/map_place.h"

#include <fmt/format.h>

namespace rdmablk::cli::mapping {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_plain(char c) {
  return is_letter_or_digit(c) || c == '-' || c == '_' || c == ':' || c == '.';
}

/// Hidden files are not for hosts, and these are names of directories beside them.
bool is_taken(std::string_view host) {
  return host.starts_with('.') || host == "by-uuid" || host == "by-name";
}

}  // namespace

std::string file_name(const HostPort& target) {
  std::string name;
  const bool taken = is_taken(target.host);
  for (const char c : target.host) {
    const bool stays = is_plain(c) && !(taken && name.empty());
    name += stays ? std::string(1, c) : fmt::format("+{:02x}", static_cast<unsigned char>(c));
  }
  if (target.port != kDefaultPort) name += fmt::format("@{}", target.port);
  return name;
}

MapPlace::MapPlace(const MapRoots& roots, const Uri& uri)
    : directory(fmt::format("{}/{}/{}", roots.run, file_name(uri.target), uri.export_name)),
      link(fmt::format("{}/{}/{}", roots.dev, file_name(uri.target), uri.export_name)) {}

}  // namespace rdmablk::cli::mapping
