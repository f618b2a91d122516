#include "initiator/cli/mapping/map_generator.h"

#include <fmt/format.h>
#include <mntent.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

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

void write_drop_in(const fs::path& directory, const std::string& text) {
  const fs::path path = directory / "50-rdmablk.conf";
  std::error_code error;
  fs::create_directories(directory, error);
  errno = 0;
  if (!error && !(std::ofstream(path) << text << std::flush)) {
    error.assign(errno != 0 ? errno : EIO, std::generic_category());
  }
  if (error) throw SystemError(fmt::format("make {}", path.string()), error.value());
}

bool is_export(const mntent& entry) {
  const std::string_view type = entry.mnt_type;
  return (type == "rdmablk" || type == "fuse.rdmablk") && entry.mnt_dir[0] == '/';
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

void order_mounts(const std::string& fstab, const std::string& directory) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(::setmntent(fstab.c_str(), "re"),
                                                             &::endmntent);
  if (!file) return;
  while (const mntent* const entry = ::getmntent(file.get())) {
    if (!is_export(*entry)) continue;
    write_drop_in(fs::path(directory) / (escape_path(entry->mnt_dir) + ".mount.d"),
                  "[Unit]\nAfter=rdmablk-target.service\n");
  }
}

int run_map_generator(int argc, char** argv) noexcept try {
  const std::string directory = argc > 1 ? argv[1] : "/tmp";
  const char* const named = std::getenv("RDMABLK_MAPTAB");
  const Maptab table = read_maptab(named != nullptr ? named : kMaptab);
  for (const std::string& error : table.errors) print_error(kProgram, error);
  generate_units(table, MapRoots(), directory);
  order_mounts("/etc/fstab", directory);
  return table.errors.empty() ? kExitDone : kExitFailed;
} catch (const std::exception& error) {
  print_error(kProgram, error.what());
  return kExitFailed;
}

}  // namespace rdmablk::cli::mapping
