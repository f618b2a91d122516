#include "initiator/cli/mapping/maptab.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>

#include "common/error.h"
#include "common/export_name.h"
#include "initiator/connection_options.h"

namespace rdmablk::cli::mapping {
namespace {

constexpr std::size_t kMostBytes = 1U << 20U;
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kMostErrors = 100;
constexpr std::string_view kBlanks = " \t\r";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(kBlanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool has_option(std::string_view options, std::string_view wanted) {
  while (true) {
    const auto end = options.find(',');
    if (options.substr(0, end) == wanted) return true;
    if (end == std::string_view::npos) return false;
    options.remove_prefix(end + 1);
  }
}

void check_name(std::string_view name) {
  if (is_export_name(name)) return;
  throw UsageError(
      fmt::format("'{}' is not a name: up to {} letters, digits, '.', '_' and '-', "
                  "the first a letter or digit",
                  name, kMaxExportName));
}

MaptabEntry entry_of(const std::vector<std::string_view>& words) {
  if (words.size() < 2) throw UsageError("a line is NAME URI [OPTIONS]; the URI is missing");
  if (words.size() > 3) {
    throw UsageError(fmt::format(
        "a line is NAME URI [OPTIONS]; '{}' is too many: options are separated by commas alone",
        words[3]));
  }
  check_name(words[0]);
  const std::string_view options = words.size() == 3 ? words[2] : "-";
  MaptabEntry entry{.name = std::string(words[0]),
                    .uri = parse_uri(words[1], initiator::default_port_of(options)),
                    .options = {}};
  if (options != "-" && options != "defaults") entry.options = options;
  entry.is_automatic = !has_option(options, "noauto");
  return entry;
}

void expect_no_other(const Maptab& table, const MaptabEntry& entry) {
  for (const MaptabEntry& other : table.entries) {
    if (other.name == entry.name) {
      throw UsageError(fmt::format("'{}' is the name of an earlier line", entry.name));
    }
    if (other.uri == entry.uri) {
      throw UsageError(
          fmt::format("{} is in an earlier line, as '{}'", entry.uri.text(), other.name));
    }
  }
}

void add(Maptab& table, std::string_view line) {
  const auto words = words_of(line);
  if (words.empty() || words.front().starts_with('#')) return;
  if (table.entries.size() == kMostEntries) {
    throw UsageError(fmt::format("there are more than {} lines", kMostEntries));
  }
  MaptabEntry entry = entry_of(words);
  expect_no_other(table, entry);
  table.entries.push_back(std::move(entry));
}

}  // namespace

const MaptabEntry* Maptab::find(std::string_view name) const {
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const MaptabEntry& each) { return each.name == name; });
  return entry == entries.end() ? nullptr : &*entry;
}

Maptab parse_maptab(std::string_view text, const std::string& file) {
  Maptab table;
  for (std::size_t number = 1; !text.empty() && table.errors.size() < kMostErrors; ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    try {
      add(table, text.substr(0, end));
    } catch (const UsageError& error) {
      table.errors.push_back(fmt::format("{}:{}: {}", file, number, error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return table;
}

Maptab read_maptab(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) {
    if (errno == ENOENT) return {};
    throw SystemError(fmt::format("read {}", file), errno);
  }
  std::string text(kMostBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw SystemError(fmt::format("read {}", file), EIO);
  if (text.size() > kMostBytes) {
    throw Error(fmt::format("cannot read {}: it is larger than {} bytes", file, kMostBytes));
  }
  return parse_maptab(text, file);
}

}  // namespace rdmablk::cli::mapping
