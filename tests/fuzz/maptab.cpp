// Files that rdmablk map reads: maptab, of an administrator, and the records of maps. Each is read,
// or what is wrong with it is said.
#include "initiator/cli/mapping/maptab.h"

#include <set>

#include "common/export_name.h"
#include "initiator/cli/mapping/map_record.h"
#include "initiator/cli/mapping/unit_name.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

using namespace cli::mapping;  // NOLINT(google-build-using-namespace)

bool is_below(const std::string& path, const std::string& directory) {
  return path.starts_with(directory + "/") && path.find("/../") == std::string::npos &&
         path.find("/./") == std::string::npos && path.find('\0') == std::string::npos;
}

void check_places(const Uri& uri) {
  const MapRoots roots;
  const MapPlace place(roots, uri);
  require(is_below(place.directory, roots.run) && is_below(place.link, roots.dev),
          "a map is in its place");
  const std::string host = file_name(uri.target);
  require(!host.empty() && host.find('/') == std::string::npos && !host.starts_with('.'),
          "a host is one name");
  require(escape_path(place.link).find('/') == std::string::npos, "so is a unit");
}

void check_maptab(std::string_view text) {
  const Maptab table = parse_maptab(text, "maptab");
  std::set<std::string> names;
  for (const MaptabEntry& entry : table.entries) {
    require(is_export_name(entry.name), "a map has a name");
    require(names.insert(entry.name).second, "of its own");
    require(table.find(entry.name) == &entry, "by which it is found");
    check_places(entry.uri);
  }
  for (const std::string& error : table.errors) {
    require(error.starts_with("maptab:"), "an error says where");
  }
}

void check_record(const std::string& text) {
  const auto record = MapRecord::parse(text);
  if (!record) return;
  require(record->device.find('/') == std::string::npos, "a device is one name");
  check_places(record->uri);
  const auto again = MapRecord::parse(record->text());
  require(again && again->text() == record->text(), "a record can be read again");
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  const bool is_record = input.choice(2) != 0;
  const std::string text(input.text());
  is_record ? rdmablk::fuzz::check_record(text) : rdmablk::fuzz::check_maptab(text);
  return 0;
}
