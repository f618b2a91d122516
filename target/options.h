#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/cm/settings.h"
#include "common/uri.h"
#include "target/admin_options.h"
#include "target/export_spec.h"
#include "target/limits.h"

namespace rdmablk::target {

/// An address to listen on, and how those connect who come there.
struct ListenPlace {
  cm::Method method = cm::Method::rdmacm;
  HostPort where;

  /// Whether it was asked for; of those that were not, one of each method will do.
  bool is_wanted = true;

  bool operator==(const ListenPlace&) const = default;
};

/// What the command line and the configuration files ask for.
struct Options {
  std::vector<ExportSpec> exports;

  /// Where to listen, as far as this host has the addresses. A port of zero: any that is free.
  std::vector<ListenPlace> listen;

  /// How connections are to be; its device is the only one to use.
  cm::Settings connections;

  std::string
      state_directory;  ///< where the identities of exports are kept; empty: the usual place
  std::vector<std::string> discards;  ///< exports whose kept memory is to be let go of
  std::optional<pid_t> predecessor;   ///< the process to take over from
  /// Where the clients' keys lie; nothing: nobody is asked who they are.
  std::optional<std::string> key_file;

  std::string log_level = "info";
  Limits limits;
  std::size_t io_threads = 1;     ///< threads that work on the requests of file exports
  std::uint64_t slot_memory = 0;  ///< bytes that their I/O queues may use in all

  /// Bytes of these that the queues of one client may use; nothing: half, and one queue at least.
  std::optional<std::uint64_t> client_slot_memory;

  bool show_paths = false;  ///< whether initiators see where files lie

  std::optional<std::string> config;   ///< the configuration file
  std::optional<std::string> pidfile;  ///< to be written when it serves
  std::optional<std::string> command;  ///< a shell's, which the target serves as long as it runs

  AdminOptions admin;

  std::optional<HostPort> metrics;  ///< where metrics can be read; nothing: nowhere
};

/// What else a command line may ask for.
struct Invocation {
  bool check_config = false;           ///< to check and to end: see ConfigCheck
  std::optional<std::string> as_user;  ///< whose permissions count for that; nothing: the caller's
};

/// Reads the command line without any configuration file.
/// @return nothing when it was answered on standard output: --help, --version. Throws UsageError.
std::optional<Invocation> parse_invocation(int argc, const char* const* argv);

/// Reads the command line, and the configuration files if it names any; again, when the target runs
/// and they may have changed. Throws UsageError; of files it is a ConfigError, which has a
/// complaint for everything that is wrong with them.
Options load_options(int argc, const char* const* argv);

/// Both of these, for who wants nothing but options.
/// @return nothing when it was answered on standard output. Throws UsageError.
std::optional<Options> parse_options(int argc, const char* const* argv);

/// Reads ADDR[:PORT]; unlike everywhere else, the port may be zero. Throws UsageError.
/// @param methods by which clients may connect there. Each has a port of its own: without PORT its
/// default, else PORT for the first, and the one after it for the second.
std::vector<ListenPlace> parse_listen(std::string_view text, std::span<const cm::Method> methods);

}  // namespace rdmablk::target
