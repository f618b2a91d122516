#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmablk::fuse {

/// The exit statuses of mount(8).
enum MountStatus : int { kMountDone = 0, kMountUsage = 1, kMountSystem = 2, kMountFailed = 32 };

/// What mount(8) calls the program as, for messages: "mount.rdmablk".
inline constexpr const char* kMountHelper = "mount.rdmablk";

/// How mount(8) calls its helpers:
/// mount.TYPE SOURCE DIR [-sfnv] [-N NAMESPACE] [-o OPTIONS]... [-t TYPE]
struct HelperCall {
  std::string source;
  std::string mount_point;
  std::vector<std::string> options;       ///< each argument of -o
  std::optional<std::string> name_space;  ///< to mount in: a process number, or a file
  bool is_sloppy = false;
  bool is_fake = false;
  bool is_verbose = false;

  /// Whether a mount is to be changed that is there already: `-o remount`.
  bool is_remount() const;

  /// The same in the words of rdmablk-fuse. The source stands in the mount table as it was written,
  /// so that `mount --all` finds it there.
  std::vector<std::string> fuse_arguments() const;
};

/// Whether a program was started as mount.rdmablk, or mount.fuse.rdmablk.
/// @param name its argv[0].
bool is_mount_helper(std::string_view name);

/// Reads the command line of a helper.
/// @return nothing when it asked for help or the version. Throws UsageError.
std::optional<HelperCall> parse_helper_call(int argc, const char* const* argv);

/// Runs what mount(8) asks for: becomes rdmablk-fuse, or changes a mount.
/// @return the exit status, one of MountStatus.
int run_mount_helper(int argc, char** argv) noexcept;

}  // namespace rdmablk::fuse
