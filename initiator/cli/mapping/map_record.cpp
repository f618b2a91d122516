#include "initiator/cli/mapping/map_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/error.h"
#include "common/export_name.h"
#include "common/file_replacement.h"
#include "common/uuid.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;

/// "loop" and a number.
bool is_loop_name(const std::string& name) {
  constexpr std::string_view kPrefix = "loop";
  constexpr std::size_t kMostDigits = 7;
  if (!name.starts_with(kPrefix)) return false;
  const std::string digits = name.substr(kPrefix.size());
  return !digits.empty() && digits.size() <= kMostDigits &&
         digits.find_first_not_of("0123456789") == std::string::npos;
}

bool makes_sense(const MapRecord& record) {
  return (record.name.empty() || is_export_name(record.name)) &&
         (record.uuid.empty() || parse_uuid(record.uuid)) &&
         (record.device.empty() || is_loop_name(record.device));
}

/// Directories below one, sorted, without hidden ones.
std::vector<fs::path> directories(const fs::path& parent) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with('.')) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void write_whole(const std::string& path, const std::string& text) {
  constexpr mode_t kMode = 0644;
  try {
    FileReplacement file(AT_FDCWD, path, path + ".new", kMode);
    file.write(text);
    file.take_place();
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("write {}", path), error.error());
  }
}

std::string MapRecord::text() const {
  Json json = new_document();
  json["uri"] = uri.text();
  json["name"] = name;
  json["uuid"] = uuid;
  json["device"] = device;
  json["read_only"] = read_only;
  return json.dump() + "\n";
}

std::optional<MapRecord> MapRecord::parse(const std::string& text) try {
  const Json json = Json::parse(text);
  MapRecord record{.uri = parse_uri(json.at("uri").get<std::string>()),
                   .name = json.at("name").get<std::string>(),
                   .uuid = json.at("uuid").get<std::string>(),
                   .device = json.at("device").get<std::string>(),
                   .read_only = json.at("read_only").get<bool>()};
  return makes_sense(record) ? std::optional(std::move(record)) : std::nullopt;
} catch (const Json::exception&) {
  return std::nullopt;
} catch (const UsageError&) {
  return std::nullopt;
}

void MapRecord::write(const MapPlace& place) const {
  write_whole(place.record(), text());
}

std::optional<MapRecord> MapRecord::read(const std::string& file) {
  constexpr std::size_t kMostBytes = 4096;
  std::ifstream stream(file);
  std::string text(kMostBytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return text.empty() ? std::nullopt : parse(text);
}

std::vector<MapRecord> read_map_records(const MapRoots& roots) {
  std::vector<MapRecord> records;
  for (const fs::path& host : directories(roots.run)) {
    for (const fs::path& place : directories(host)) {
      if (auto record = MapRecord::read(place / "map.json")) records.push_back(std::move(*record));
    }
  }
  return records;
}

}  // namespace rdmablk::cli::mapping
