#include "initiator/cli/spec_paths.h"

#include <vector>

namespace rdmablk::cli {
namespace {

/// Cuts at the commas that no backslash stands before; the backslashes stay.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      parts.emplace_back();
      continue;
    }
    parts.back() += text[i];
    const bool escapes = text[i] == '\\' && i + 1 < text.size();
    if (escapes) parts.back() += text[++i];
  }
  return parts;
}

std::string escaped(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == ',' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

/// Makes what stands behind `before` absolute, if that is there.
void complete(std::string& part, std::string_view before, std::string_view directory) {
  const auto found = part.find(before);
  if (found == std::string::npos) return;
  const auto path = found + before.size();
  if (path == part.size() || part[path] == '/') return;
  part.insert(path, escaped(directory) + "/");
}

}  // namespace

std::string absolute_spec(std::string_view spec, std::string_view directory) {
  auto parts = split(spec);
  complete(parts.front(), "=file:", directory);
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].starts_with("save=")) complete(parts[i], "save=", directory);
    text += "," + parts[i];
  }
  return text;
}

}  // namespace rdmablk::cli
