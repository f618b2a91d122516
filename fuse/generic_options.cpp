#include "fuse/generic_options.h"

#include <sys/mount.h>

#include <algorithm>
#include <array>

namespace rdmablk::fuse {
namespace {

constexpr auto kIgnored = std::to_array<std::string_view>(
    {"_netdev",       "_rnetdev",   "async",       "atime",  "auto",      "defaults",
     "dev",           "diratime",   "exec",        "group",  "iversion",  "lazytime",
     "loud",          "mand",       "noauto",      "nodev",  "nodirsync", "nofail",
     "nogroup",       "noiversion", "nolazytime",  "nomand", "noowner",   "norelatime",
     "nostrictatime", "nosuid",     "nosymfollow", "nouser", "nousers",   "owner",
     "relatime",      "silent",     "strictatime", "suid",   "symfollow", "user",
     "users"});

/// mount(8) itself makes the last three.
constexpr auto kIgnoredWithValue =
    std::to_array<std::string_view>({"comment", "user", "helper", "uhelper"});

struct Flag {
  std::string_view name;
  unsigned long value;
};

constexpr auto kPassedOn = std::to_array<Flag>({{"dirsync", MS_DIRSYNC},
                                                {"noatime", MS_NOATIME},
                                                {"nodiratime", MS_NODIRATIME},
                                                {"noexec", MS_NOEXEC},
                                                {"sync", MS_SYNCHRONOUS}});

constexpr auto kShown = std::to_array<std::string_view>(
    {"user_id", "group_id", "default_permissions", "max_read", "blksize", "allow_other"});

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_for_other_programs(std::string_view name) {
  return name.starts_with("x-") || name.starts_with("X-") || name == "comment";
}

}  // namespace

GenericOption generic_option(std::string_view name, bool has_value) {
  if (is_for_other_programs(name)) return GenericOption::ignored;
  if (has_value) {
    return contains(kIgnoredWithValue, name) ? GenericOption::ignored : GenericOption::none;
  }
  if (mount_flag(name) != 0) return GenericOption::passed_on;
  return contains(kIgnored, name) ? GenericOption::ignored : GenericOption::none;
}

unsigned long mount_flag(std::string_view name) {
  const auto* const flag = std::find_if(kPassedOn.begin(), kPassedOn.end(),
                                        [&](const Flag& each) { return each.name == name; });
  return flag == kPassedOn.end() ? 0 : flag->value;
}

bool is_shown_by_kernel(std::string_view name) {
  return contains(kShown, name);
}

}  // namespace rdmablk::fuse
