#include "target/config_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "common/counted.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics_address.h"
#include "common/pid_file.h"
#include "common/unique_fd.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "target/admin_place.h"
#include "target/client_keys.h"
#include "target/config_files.h"
#include "target/device_probe.h"
#include "target/distinct_files.h"
#include "target/export_set_up.h"
#include "target/file_probe.h"
#include "target/io_uring.h"
#include "target/known_size.h"
#include "target/memory_probe.h"
#include "target/state_directory.h"
#include "target/user_switch.h"

namespace rdmablk::target {
namespace {

using Kind = Finding::Kind;

/// systemd makes it when it starts the service, and removes it when that ends.
bool is_to_be_made_by_service(const std::string& path) {
  constexpr const char* kRuntimeDirectory = "/run/rdmablk";
  std::error_code ignored;
  const auto parent = std::filesystem::absolute(path).parent_path();
  return parent == kRuntimeDirectory && !std::filesystem::exists(parent, ignored);
}

/// Whether the permissions are those of the service's user, which systemd limits further.
bool is_of_service() {
  const char* const home = std::getenv("HOME");
  return home != nullptr && std::string_view(home) == kServiceStateDirectory;
}

/// Whether the service may write to a file, and open a device, as its unit is without drop-ins.
bool may_service_use(const std::string& path) {
  std::error_code error;
  std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  if (error) real = std::filesystem::absolute(path).lexically_normal();  // it may not be reached
  const std::string place = real.string();
  return place.starts_with("/srv/") || place.starts_with(std::string(kServiceStateDirectory) + "/");
}

/// In the order in which a start does it.
class Look {
 public:
  explicit Look(const Options& options) : options_(options) {}

  std::vector<Finding> all() {
    look_at_pid_file();
    look_at_keys();
    probe_devices(options_, findings_);
    const std::unique_ptr<StateDirectory> state = look_at_state();
    std::vector<ExportSpec> specs = options_.exports;
    for (ExportSpec& spec : specs) look_at_export(spec, state.get());
    look_at_distinct_files();
    probe_memory(specs, findings_);
    look_at_rings();
    look_at_metrics();
    look_at_admin_socket();
    look_at_drop_ins();
    return std::move(findings_).take();
  }

 private:
  /// @param spec gets the size of its file, as far as it is known.
  void look_at_export(ExportSpec& spec, const StateDirectory* state) {
    const auto say = [&](const std::string& text) {
      return fmt::format("export '{}': {}", spec.name, text);
    };
    const std::string& path = spec.has_file() ? spec.path : spec.save;
    if (!path.empty() && !spec.read_only && is_of_service() && !may_service_use(path)) {
      findings_.add(Kind::note, say(fmt::format("the service writes below /srv and {} alone; {} "
                                                "takes a drop-in for its unit (ReadWritePaths=, "
                                                "DeviceAllow=): see operating.md",
                                                kServiceStateDirectory, path)));
    }
    if (!spec.has_file()) {
      return findings_.attempt([&] {
        adopt_known_size(spec, state);
        return say(spec.save.empty() ? "it is memory" : probe_save_file(spec));
      });
    }
    spec.size = spec.file_size.value_or(0);
    std::uint32_t alignment = 1;
    findings_.attempt([&] {
      adopt_known_size(spec, state);
      const ProbedFile file = probe_export_file(spec);
      spec.size = file.size;
      alignment = file.alignment;
      if (spec.kind == protocol::ExportKind::resident) check_chunk_count(spec);
      return say(file.text);
    });
    try {
      check_slot_memory(alignment, options_);
    } catch (const Error& error) {
      findings_.add(Kind::problem, say(error.what()));
    }
  }

  void adopt_known_size(ExportSpec& spec, const StateDirectory* state) {
    const auto size = known_size(spec, state);
    if (!size) return;
    findings_.add(Kind::note, describe_known_size(spec, *size));
    set_known_size(spec, *size);
  }

  void look_at_distinct_files() {
    try {
      check_distinct_files(options_.exports);
    } catch (const Error& error) {
      findings_.add(Kind::problem, error.what());
    }
  }

  void look_at_keys() {
    if (!options_.key_file) {
      return findings_.add(Kind::note,
                           "nobody is asked for a key (--insecure): any host that reaches the "
                           "port may read and write the exports");
    }
    findings_.attempt([&] {
      const ClientKeys keys = ClientKeys::read(*options_.key_file);
      check_clients(keys);
      if (keys.size() == 0) {
        throw Error(
            fmt::format("the key file {} has no client in it; `rdmablk keygen CLIENT` "
                        "prints a line for one",
                        *options_.key_file));
      }
      return fmt::format("the key file {} has the keys of {}", *options_.key_file,
                         counted(keys.size(), "client"));
    });
  }

  void check_clients(const ClientKeys& keys) {
    for (const ExportSpec& spec : options_.exports) {
      for (const std::string& client : spec.rules.clients()) {
        if (keys.has(client)) continue;
        findings_.add(Kind::note, fmt::format("export '{}' is for client '{}', who has no key",
                                              spec.name, client));
      }
    }
  }

  /// @return null when there is none, yet or that is fit.
  std::unique_ptr<StateDirectory> look_at_state() {
    const auto& specs = options_.exports;
    if (std::none_of(specs.begin(), specs.end(), needs_state)) return nullptr;
    std::unique_ptr<StateDirectory> state;
    findings_.attempt([&] {
      const std::string path =
          options_.state_directory.empty() ? default_state_directory() : options_.state_directory;
      const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!fd && errno == ENOENT) return look_above(path);
      if (!fd) throw SystemError(fmt::format("use the state directory '{}'", path), errno);
      check_state_directory(fd.get(), path);
      check_writable_directory(path, "keep the state of exports");
      state = std::make_unique<StateDirectory>(path);
      return fmt::format("the state of exports can be kept in {}", path);
    });
    return state;
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

  /// The kernel may have no io_uring, or a policy be against it.
  void look_at_rings() {
    const auto& specs = options_.exports;
    if (std::none_of(specs.begin(), specs.end(), [](const auto& spec) { return spec.has_file(); }))
      return;
    try {
      const IoUring ring({}, 1);
    } catch (const verbs::MemlockError& error) {
      findings_.add(
          Kind::note,
          fmt::format("{}; the service has a limit of its own (LimitMEMLOCK=)", error.what()));
    } catch (const Error& error) {
      findings_.add(Kind::problem, error.what());
    }
  }

  void look_at_metrics() {
    if (!options_.metrics) return;
    findings_.attempt([&] {
      const HostPort address = metrics::ipv4_of(*options_.metrics);
      const int error = metrics::try_address(address);
      if (error != 0 && error != EADDRINUSE) throw Error(metrics::describe_refusal(address, error));
      if (error == 0) return fmt::format("metrics can be had at {}", address.text());
      findings_.add(Kind::note, fmt::format("{}. A target that runs may be that program",
                                            metrics::describe_refusal(address, error)));
      return fmt::format("metrics are to be had at {}", address.text());
    });
  }

  /// The usual place, which nobody has asked for, is left alone: without it a target starts, too.
  void look_at_admin_socket() {
    const AdminOptions& admin = options_.admin;
    if (!admin.socket) return look_at_admin_group();
    if (*admin.socket == AdminOptions::kNone) return;
    if (is_to_be_made_by_service(*admin.socket)) {
      add_runtime_note("the administration socket", *admin.socket);
      return look_at_admin_group();
    }
    findings_.attempt([&] {
      const std::string occupant = AdminPlace::probe(*admin.socket, admin.group);
      if (!occupant.empty()) {
        findings_.add(Kind::note, fmt::format("the administration socket {} is in use: {}",
                                              *admin.socket, occupant));
      }
      return fmt::format("administrators can be heard at {}", *admin.socket);
    });
  }

  void look_at_admin_group() {
    const std::string& group = options_.admin.group;
    if (group.empty()) return;
    findings_.attempt([&] {
      AdminPlace::probe_group(group);
      return fmt::format("the group '{}' can administer it", group);
    });
  }

  void look_at_pid_file() {
    if (!options_.pidfile) return;
    if (is_to_be_made_by_service(*options_.pidfile)) {
      return add_runtime_note("the pidfile", *options_.pidfile);
    }
    findings_.attempt([&] {
      const auto path = std::filesystem::absolute(*options_.pidfile).string();
      const std::string holder = PidFile::probe(path);
      if (!holder.empty()) {
        findings_.add(Kind::note, fmt::format("the pidfile {} is that of process {}, which runs",
                                              path, holder));
      }
      return fmt::format("the pidfile {} can be written", path);
    });
  }

  void add_runtime_note(const std::string& what, const std::string& path) {
    findings_.add(Kind::note,
                  fmt::format("the directory of {} {} is not there: the service's start makes it, "
                              "and a target that is started otherwise does not",
                              what, path));
  }

  void look_at_drop_ins() {
    if (!options_.config) return;
    const std::string directory = drop_in_directory(*options_.config);
    if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
    if (errno == ENOENT) return;  // it is made when something is to be kept there
    findings_.add(Kind::note,
                  fmt::format("exports that are added while the target runs cannot be kept in "
                              "{}: {}",
                              directory, errno_text(errno)));
  }

  const Options& options_;
  Findings findings_;
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
  if (is_of_service()) ::setenv("STATE_DIRECTORY", kServiceStateDirectory, 0);
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
