#include "initiator/cli/mapping/map_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/error.h"
#include "common/export_name.h"
#include "common/log.h"
#include "common/loop_size.h"
#include "initiator/cli/mapping/map_list.h"
#include "initiator/cli/mapping/map_state.h"
#include "initiator/cli/mapping/mapper.h"
#include "initiator/cli/mapping/unmapper.h"
#include "initiator/connection_options.h"

namespace rdmablk::cli::mapping {
namespace {

constexpr const char* kFooter =
    "The device is a loop device with direct I/O on a mount of the export. Its names are\n"
    "/dev/rdmablk/HOST/EXPORT (HOST@PORT, if that is not 10812), /dev/rdmablk/by-uuid/UUID "
    "and,\n"
    "with --name, /dev/rdmablk/by-name/NAME; they and the device are gone after `rdmablk unmap`. "
    "An\n"
    "export that is read-only, or mapped with -o ro, makes a read-only device.\n"
    "\n"
    "/etc/rdmablk/maptab has a line for each device that is wanted at boot: NAME URI [OPTIONS], "
    "the\n"
    "options as after -o, and noauto. A NAME in place of a URI maps its line.\n"
    "\n"
    "Examples:\n"
    "  device=$(rdmablk map rdmablk://storage1/scratch) && mkfs.ext4 \"$device\"\n"
    "  rdmablk map rdmablk://storage1/scratch --name scratch -o give_up=never\n"
    "  rdmablk map --list\n"
    "  rdmablk map --refresh scratch && resize2fs /dev/rdmablk/by-name/scratch\n"
    "  rdmablk unmap scratch";

/// Asks the mount for its size past the kernel's memory, which the device takes it from.
void look_again(const std::string& image) {
  struct statx status {};
  if (::statx(AT_FDCWD, image.c_str(), AT_STATX_FORCE_SYNC, STATX_SIZE, &status) != 0) {
    throw SystemError(fmt::format("ask {} for its size", image), errno);
  }
}

}  // namespace

MapCommand::MapCommand(CLI::App& parent) : Command(parent, "map", "make an export a block device") {
  arguments()
      .add_option("URI", what_, "rdmablk://HOST[:PORT]/EXPORT, or a NAME in maptab")
      ->type_name("");
  arguments().add_option("--name", name_, "another name for the device")->type_name("NAME");
  arguments()
      .add_option("-o", options_, "options of the mount, as of `rdmablk mount`")
      ->type_name("OPTIONS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* all = arguments().add_flag("--all", all_, "map all of maptab, but what is noauto");
  auto* list = arguments().add_flag("--list", list_, "show what is mapped");
  auto* refresh = arguments().add_flag(
      "--refresh", refresh_, "have a device that is mapped take the size that its export has now");
  arguments()
      .add_option("--maptab", maptab_, "the file of what is wanted at boot")
      ->type_name("FILE")
      ->capture_default_str();
  all->excludes(list)->excludes(refresh);
  list->excludes(refresh);
  add_json_option();
  arguments().footer(kFooter);
}

void MapCommand::check() const {
  const bool takes_none = all_ || list_;
  if (takes_none && !what_.empty()) {
    throw UsageError(
        fmt::format("{} takes no URI, and has '{}'", all_ ? "--all" : "--list", what_));
  }
  if (!takes_none && what_.empty()) {
    throw UsageError("map takes a URI, or --all, or --list; see `rdmablk map --help`");
  }
  if ((takes_none || refresh_) && (!name_.empty() || !options_.empty())) {
    throw UsageError("--name and -o go with a URI that is mapped");
  }
  if (!name_.empty() && !is_export_name(name_)) {
    throw UsageError(
        fmt::format("--name {}: a name has up to {} letters, digits, '.', '_' and "
                    "'-', the first a letter or digit",
                    name_, kMaxExportName));
  }
}

int MapCommand::run() {
  check();
  if (list_) return list();
  if (all_) return map_all();
  return refresh_ ? refresh() : map();
}

/// Throws Error for the first line that makes no sense, unless a line without fault is wanted.
Maptab MapCommand::maptab() const {
  return read_maptab(maptab_);
}

int MapCommand::map() const {
  const std::string given = fmt::format("{}", fmt::join(options_, ","));
  if (what_.find("://") != std::string::npos) {
    const auto port = initiator::default_port_of(given);
    print(map_export(roots_, {.uri = parse_uri(what_, port), .name = name_, .options = given}));
    return kExitDone;
  }
  const Maptab table = maptab();
  const MaptabEntry* const entry = table.find(what_);
  if (entry == nullptr) {
    if (!table.errors.empty()) throw Error(table.errors.front());
    throw Error(fmt::format("'{}' is neither a URI nor a name in {}", what_, maptab_));
  }
  const std::string options = fmt::format("{},{}", entry->options, given);
  const std::string name = name_.empty() ? entry->name : name_;
  print(map_export(roots_, {.uri = entry->uri, .name = name, .options = options}));
  return kExitDone;
}

/// One that fails does not keep the others from being mapped.
int MapCommand::map_all() const {
  const Maptab table = maptab();
  bool failed = !table.errors.empty();
  for (const std::string& error : table.errors) print_error("rdmablk", error);
  const auto mapped = read_map_records(roots_);
  std::vector<ShownMap> made;
  for (const MaptabEntry& entry : table.entries) {
    const bool is_there = std::any_of(mapped.begin(), mapped.end(), [&](const MapRecord& record) {
      return record.uri == entry.uri && state_of(roots_, record) == MapState::ready;
    });
    if (!entry.is_automatic || is_there) continue;
    try {
      const MapRecord record =
          map_export(roots_, {.uri = entry.uri, .name = entry.name, .options = entry.options});
      made.push_back(show(roots_, record));
      if (!wants_json()) print(record);
    } catch (const Error& error) {
      print_error("rdmablk", fmt::format("{}: {}", entry.name, error.what()));
      failed = true;
    }
  }
  if (wants_json()) print_json(map_list_json(made));
  return failed ? kExitFailed : kExitDone;
}

int MapCommand::list() const {
  std::vector<ShownMap> maps;
  for (const MapRecord& record : read_map_records(roots_)) maps.push_back(show(roots_, record));
  if (wants_json()) {
    print_json(map_list_json(maps));
  } else {
    fmt::print("{}", map_list_text(maps));
  }
  return kExitDone;
}

int MapCommand::refresh() const {
  const auto found = find_map(roots_, what_);
  if (!found) fail_not_mapped(what_);
  const MapRecord& record = *found;
  if (state_of(roots_, record) != MapState::ready) {
    throw Error(
        fmt::format("cannot refresh '{}': it is {}", what_, state_name(state_of(roots_, record))));
  }
  look_again(MapPlace(roots_, record.uri).image());
  refresh_loop_size(record.device_path());
  if (wants_json()) print(record);
  return kExitDone;
}

void MapCommand::print(const MapRecord& record) const {
  if (wants_json()) {
    print_json(map_json(show(roots_, record)));
  } else {
    fmt::print("{}\n", record.device_path());
  }
}

}  // namespace rdmablk::cli::mapping
