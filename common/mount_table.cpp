#include "common/mount_table.h"

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/file_text.h"

namespace rdmablk {
namespace {

constexpr const char* kMountTable = "/proc/self/mountinfo";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

/// The kernel writes a space, a tab, a line's end and a backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                         is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!escaped) {
      plain += text[i];
      continue;
    }
    const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
    plain += static_cast<char>(value);
    i += 3;
  }
  return plain;
}

/// "36 35 98:0 /root /path options [optional ...] - type source options"
std::optional<MountEntry> parse_line(std::string_view line) {
  constexpr std::size_t kDevice = 2;
  constexpr std::size_t kPath = 4;
  constexpr std::ptrdiff_t kFirstOptional = 6;
  const auto fields = split(line, ' ');
  if (fields.size() < kFirstOptional) return std::nullopt;
  const auto dash = std::find(fields.begin() + kFirstOptional, fields.end(), "-");
  if (fields.end() - dash < 3) return std::nullopt;
  return MountEntry{std::string(fields[kDevice]), unescape(fields[kPath]), unescape(dash[1]),
                    unescape(dash[2])};
}

}  // namespace

std::vector<MountEntry> parse_mount_table(std::string_view text) {
  std::vector<MountEntry> entries;
  for (const std::string_view line : split(text, '\n')) {
    if (auto entry = parse_line(line)) entries.push_back(std::move(*entry));
  }
  return entries;
}

std::vector<MountEntry> read_mount_table() {
  const auto text = read_file_text(kMountTable);
  if (!text) throw SystemError(std::string("read ") + kMountTable, errno);
  return parse_mount_table(*text);
}

std::optional<MountEntry> mounted_at(const std::string& path) {
  const auto entries = read_mount_table();
  const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                  [&](const MountEntry& entry) { return entry.path == path; });
  return found == entries.rend() ? std::nullopt : std::optional(*found);
}

}  // namespace rdmablk
