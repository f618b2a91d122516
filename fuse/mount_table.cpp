#include "fuse/mount_table.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include "common/error.h"

namespace rdmablk::fuse {

namespace {

constexpr const char* kMountInfo = "/proc/self/mountinfo";

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

/// The kernel writes blanks, line ends and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escape) {
      plain += text[i];
      continue;
    }
    const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
    plain += static_cast<char>(value);
    i += 3;
  }
  return plain;
}

/// Takes the next of the fields that a blank separates; empty at the end.
std::string_view next_field(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

/// "36 35 98:0 /root /path options [optional ...] - type source options"
std::optional<MountEntry> parse_line(std::string_view line) {
  MountEntry entry;
  next_field(line);  // mount
  next_field(line);  // its parent
  entry.device = next_field(line);
  next_field(line);  // root
  entry.path = unescape(next_field(line));
  while (!line.empty() && next_field(line) != "-") {
  }
  entry.type = unescape(next_field(line));
  entry.source = unescape(next_field(line));
  if (entry.path.empty() || entry.type.empty()) return std::nullopt;
  return entry;
}

}  // namespace

std::vector<MountEntry> parse_mount_table(std::string_view text) {
  std::vector<MountEntry> entries;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (auto entry = parse_line(text.substr(0, end))) entries.push_back(std::move(*entry));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return entries;
}

std::optional<MountEntry> mounted_at(const std::string& path) {
  std::ifstream file(kMountInfo);
  if (!file) throw SystemError(std::string("read ") + kMountInfo, errno);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::optional<MountEntry> found;
  for (MountEntry& entry : parse_mount_table(text)) {
    if (entry.path == path) found = std::move(entry);
  }
  return found;
}

}  // namespace rdmablk::fuse
