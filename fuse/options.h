#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/features.h"
#include "common/uri.h"
#include "fuse/worker_plan.h"
#include "initiator/connection_options.h"
#include "initiator/credentials.h"
#include "initiator/recovery_options.h"

namespace rdmablk::fuse {

/// The options in one argument of `-o`, "\," taken for a comma within one.
std::vector<std::string> split_mount_options(const std::string& text);

/// What `-o` sets.
struct MountOptions {
  bool read_only = false;
  bool allow_other = false;  ///< root's mounts always do: the file's mode says who may
  std::optional<uid_t> uid;  ///< of the image's file; the mounting user's if not given
  std::optional<gid_t> gid;
  std::optional<mode_t> mode;  ///< permission bits
  std::optional<std::string> fsname;
  std::optional<std::string> key_file;  ///< absolute
  std::optional<std::string> client;
  std::string kernel_flags;  ///< "noatime,noexec": passed on
  std::optional<unsigned> workers;
  std::optional<unsigned> queue_depth;
  std::optional<std::chrono::microseconds> spin;
  std::optional<std::chrono::milliseconds> slow;
  std::optional<HostPort> metrics;                         ///< where metrics can be read
  bool take_over = false;                                  ///< the right to write, from who has it
  initiator::RecoveryOptions recovery;                     ///< what to do while the target is away
  initiator::ConnectionOptions connection;                 ///< how to reach the target
  protocol::Features features = protocol::kKnownFeatures;  ///< to tell the target of

  bool is_sloppy = false;  ///< to be set before parse(): options unknown here are left out
  std::vector<std::string> unknown{};  ///< and named here

  /// Reads the key file, if one is given. Throws Error.
  std::optional<initiator::Credentials> credentials() const;

  /// Reads one argument of `-o`: options separated by commas ("\," is a comma within a value).
  /// Those of mount(8) and fstab(5) that mean nothing here are accepted. Later ones win. Throws
  /// UsageError, which names the option.
  void parse(const std::string& text);

  /// Sets an option that takes a value. Throws UsageError, which names the option.
  void set(const std::string& name, const std::string& value);
};

/// The command line.
struct Options {
  std::optional<Uri> uri;
  std::optional<std::uint64_t> null_size;  ///< bytes; in place of a URI
  std::string mount_point;                 ///< empty: one is made, for the command
  MountOptions mount;
  std::optional<std::string> command;  ///< a shell's, which the mount is there for; in foreground
  std::optional<std::string> pidfile;  ///< absolute; to be written when the mount works
  bool foreground = false;
  bool quiet = false;
  bool or_read_only = false;  ///< mount read-only what may not be written, unasked
  bool is_fake = false;       ///< checks the command line, and mounts nothing
  bool for_mount = false;     ///< called by mount(8): its exit statuses
  std::string log_level = "info";

  /// What is mounted, for messages and as the source of the mount.
  std::string source() const;

  /// The name of the image's file in a directory.
  std::string image_name() const;

  WorkerPlan plan() const;
};

/// Reads a command line.
/// @return nothing when it asked for help or the version, which was printed. Throws UsageError.
std::optional<Options> parse_command_line(int argc, const char* const* argv);

}  // namespace rdmablk::fuse
