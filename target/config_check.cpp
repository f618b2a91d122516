#include "target/config_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string_view>

#include "common/error.h"
#include "common/log.h"
#include "common/socket_address.h"
#include "common/unique_fd.h"
#include "target/client_keys.h"
#include "target/config_files.h"
#include "target/export_set_up.h"
#include "target/file_probe.h"
#include "target/state_directory.h"
#include "target/user_switch.h"

namespace rdmablk::target {
namespace {

class Look {
 public:
  explicit Look(const Options& options) : options_(options) {}

  std::vector<Finding> all() {
    for (const ExportSpec& spec : options_.exports) look_at_export(spec);
    look_at_keys();
    look_at_state();
    look_at_addresses();
    look_at_pid_file();
    look_at_drop_ins();
    return std::move(findings_);
  }

 private:
  using Kind = Finding::Kind;

  void add(Kind kind, std::string text) { findings_.push_back({kind, std::move(text)}); }

  /// @param look returns what is fine, or throws Error.
  void attempt(const std::function<std::string()>& look) {
    try {
      add(Kind::fine, look());
    } catch (const Error& error) {
      add(Kind::problem, error.what());
    }
  }

  void look_at_export(const ExportSpec& spec) {
    if (spec.has_file()) {
      attempt([&] { return fmt::format("export '{}': {}", spec.name, probe_export_file(spec)); });
    } else if (spec.save.empty()) {
      add(Kind::fine, fmt::format("export '{}': it is memory", spec.name));
    } else {
      attempt([&] { return fmt::format("export '{}': {}", spec.name, probe_save_file(spec)); });
    }
  }

  void look_at_keys() {
    if (!options_.key_file) {
      return add(Kind::note,
                 "nobody is asked for a key (--insecure): any host that reaches the "
                 "port may read and write the exports");
    }
    attempt([&] {
      const ClientKeys keys = ClientKeys::read(*options_.key_file);
      check_clients(keys);
      if (keys.size() == 0) {
        throw Error(
            fmt::format("the key file {} has no client in it; `rdmablk keygen CLIENT` "
                        "prints a line for one",
                        *options_.key_file));
      }
      return fmt::format("the key file {} has the keys of {} clients", *options_.key_file,
                         keys.size());
    });
  }

  void check_clients(const ClientKeys& keys) {
    for (const ExportSpec& spec : options_.exports) {
      for (const std::string& client : spec.rules.clients()) {
        if (keys.has(client)) continue;
        add(Kind::note,
            fmt::format("export '{}' is for client '{}', who has no key", spec.name, client));
      }
    }
  }

  void look_at_state() {
    if (std::none_of(options_.exports.begin(), options_.exports.end(), needs_state)) return;
    attempt([&] {
      const std::string path =
          options_.state_directory.empty() ? default_state_directory() : options_.state_directory;
      const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!fd && errno == ENOENT) return look_above(path);
      if (!fd) throw SystemError(fmt::format("use the state directory '{}'", path), errno);
      check_state_directory(fd.get(), path);
      check_writable_directory(path, "keep the state of exports");
      return fmt::format("the state of exports can be kept in {}", path);
    });
  }

  /// The directory is made, with those above it.
  static std::string look_above(const std::string& path) {
    std::filesystem::path above = std::filesystem::absolute(path);
    std::error_code error;
    while (!std::filesystem::exists(above, error) && above.has_relative_path()) {
      above = above.parent_path();
    }
    check_writable_directory(above.string(), fmt::format("make the state directory '{}'", path));
    return fmt::format("the state of exports can be kept in {}, which is to be made", path);
  }

  void look_at_addresses() {
    for (const HostPort& place : options_.listen) {
      attempt([&] {
        const auto addresses = resolve(place);
        return fmt::format("to listen on {}", addresses.front().text());
      });
    }
  }

  void look_at_pid_file() {
    if (!options_.pidfile) return;
    attempt([&] {
      const auto path = std::filesystem::absolute(*options_.pidfile);
      check_writable_directory(path.parent_path().string(), "write the pidfile");
      return fmt::format("the pidfile {} can be written", path.string());
    });
  }

  void look_at_drop_ins() {
    if (!options_.config) return;
    const std::string directory = drop_in_directory(*options_.config);
    if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
    if (errno == ENOENT) return;  // it is made when something is to be kept there
    add(Kind::note, fmt::format("exports that are added while the target runs cannot be kept in "
                                "{}: {}",
                                directory, errno_text(errno)));
  }

  const Options& options_;
  std::vector<Finding> findings_;
};

/// @return the exit status.
int report(const std::string& program, const std::vector<Finding>& findings) {
  int status = kExitDone;
  for (const auto& [kind, text] : findings) {
    if (kind == Finding::Kind::problem) {
      std::fflush(stdout);
      print_error(program, text);
      status = kExitFailed;
    } else {
      std::printf("%s: %s\n", kind == Finding::Kind::fine ? "ok" : "note", text.c_str());
    }
  }
  std::fflush(stdout);
  return status;
}

/// The service manager tells the service where its state is: in the home of its user.
void know_state_as_service() {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || std::string_view(home) != kServiceStateDirectory) return;
  ::setenv("STATE_DIRECTORY", kServiceStateDirectory, 0);
}

int check(const std::string& program, int argc, const char* const* argv) {
  try {
    return report(program, look_at_places(load_options(argc, argv)));
  } catch (const UsageError& error) {
    print_error(program, error.what());
    return kExitUsage;
  }
}

}  // namespace

std::vector<Finding> look_at_places(const Options& options) {
  return Look(options).all();
}

int check_configuration(const std::string& program, int argc, const char* const* argv,
                        const Invocation& invocation) {
  if (!invocation.as_user) return check(program, argc, argv);
  return run_as_user(*invocation.as_user, [&] {
    know_state_as_service();
    return check(program, argc, argv);
  });
}

}  // namespace rdmablk::target
