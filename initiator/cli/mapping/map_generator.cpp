#include "initiator/cli/mapping/map_generator.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/mapping/unit_name.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "rdmablk-map-generator";
constexpr const char* kTemplate = "/lib/systemd/system/rdmablk-map@.service";

void link_unit(const fs::path& directory, const std::string& unit) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) fs::create_symlink(kTemplate, directory / unit, error);
  if (error && error != std::errc::file_exists) {
    throw SystemError(fmt::format("make {}", (directory / unit).string()), error.value());
  }
}

}  // namespace

bool is_map_generator(std::string_view name) {
  return name.ends_with(kProgram);
}

void generate_units(const Maptab& table, const MapRoots& roots, const std::string& directory) {
  const fs::path base(directory);
  for (const MaptabEntry& entry : table.entries) {
    const std::string unit = fmt::format("rdmablk-map@{}.service", entry.name);
    for (const std::string& link : {roots.name_link(entry.name), MapPlace(roots, entry.uri).link}) {
      link_unit(base / (escape_path(link) + ".device.requires"), unit);
    }
    if (entry.is_automatic) link_unit(base / "remote-fs.target.wants", unit);
  }
}

int run_map_generator(int argc, char** argv) noexcept try {
  const std::string directory = argc > 1 ? argv[1] : "/tmp";
  const char* const named = std::getenv("RDMABLK_MAPTAB");
  const Maptab table = read_maptab(named != nullptr ? named : kMaptab);
  for (const std::string& error : table.errors) print_error(kProgram, error);
  generate_units(table, MapRoots(), directory);
  return table.errors.empty() ? kExitDone : kExitFailed;
} catch (const std::exception& error) {
  print_error(kProgram, error.what());
  return kExitFailed;
}

}  // namespace rdmablk::cli::mapping
