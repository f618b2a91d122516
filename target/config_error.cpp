#include "target/config_error.h"

#include <fmt/format.h>

namespace rdmablk::target {
namespace {

/// The text goes to a terminal and a log, and files say what they like.
std::string printable(std::string text) {
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < 0x20 || code == 0x7F) letter = '?';
  }
  return text;
}

}  // namespace

std::string ConfigPlace::text() const {
  return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column);
}

ConfigError::ConfigError(std::vector<std::string> complaints)
    : UsageError(fmt::format("{}", fmt::join(complaints, "\n"))),
      complaints_(std::move(complaints)) {}

void Complaints::add(const ConfigPlace& place, const std::string& what) {
  add_line(printable(fmt::format("{}: {}", place.text(), what)));
}

void Complaints::add(const ConfigError& error) {
  for (const std::string& line : error.complaints()) add_line(line);
}

void Complaints::add_line(std::string line) {
  if (lines_.size() < kMost) {
    lines_.push_back(std::move(line));
  } else {
    ++more_;
  }
}

void Complaints::raise() const {
  if (lines_.empty()) return;
  auto lines = lines_;
  if (more_ > 0)
    lines.push_back(fmt::format("and {} more complaints about the configuration", more_));
  throw ConfigError(lines);
}

}  // namespace rdmablk::target
