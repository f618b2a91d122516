#include <csignal>
#include <string>
#include <vector>

#include "common/captive/captive_command.h"
#include "common/captive/signal_relay.h"
#include "common/error.h"
#include "common/log.h"
#include "common/pid_file.h"
#include "target/captive_variables.h"
#include "target/config_check.h"
#include "target/memory_holder.h"
#include "target/options.h"
#include "target/server.h"

namespace rdmablk::target {
namespace {

constexpr const char* kProgram = "rdmablk-target";

/// @param discards gets the names of those that there was no memory of.
void check_inherited(const ServiceManager& service_manager, const Options& options,
                     std::vector<std::string>& discards, InheritedMemory& inherited) {
  std::erase_if(discards, [&](const std::string& name) {
    if (!inherited.discard(name)) return false;
    spdlog::warn("export '{}': the memory that was kept is let go of, as --discard says", name);
    service_manager.remove_memory(name);
    return true;
  });
  for (const std::string& name : inherited.check(options.exports)) {
    spdlog::info(
        "export '{}': the memory that was kept is let go of: nothing is in it that its file lacks",
        name);
    service_manager.remove_memory(name);
  }
}

/// No error: a service is started again with the same command line.
void tell_idle_discards(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    spdlog::warn(
        "--discard {}: no memory was kept of an export of this name, so nothing is let go of; if "
        "the name is right, the option has done its work and can be left out",
        name);
  }
}

/// Everything of the server is gone when this returns.
ServerEnd serve(asio::io_context& io, const cm::Managers& managers,
                const ServiceManager& service_manager, const Options& options,
                InheritedMemory inherited, Reload::Load load,
                const std::function<void(const Server&)>& on_serving) {
  Server server(io, managers, service_manager, options, std::move(inherited), std::move(load));
  return server.run([&] { on_serving(server); });
}

/// What is there as long as the target serves.
class Surroundings {
 public:
  /// Before any thread: it makes a process.
  explicit Surroundings(const Options& options) : options_(options) {
    if (options.pidfile) pid_file_.emplace(*options.pidfile, options.predecessor);
    if (!options.command) return;
    command_.emplace(*options.command);
    relay_.emplace(*command_);
  }

  void begin(const Server& server) {
    if (pid_file_) pid_file_->write();
    if (!command_) return;
    command_->start(captive_variables(server.addresses(), options_.exports));
    relay_->start();
  }

  /// @return the exit status of the process: the command's, if there is one.
  int end() {
    if (!relay_) return kExitDone;
    return relay_->stop().value_or(kExitFailed);
  }

 private:
  const Options& options_;
  std::optional<PidFile> pid_file_;
  std::optional<CaptiveCommand> command_;
  std::optional<SignalRelay> relay_;
};

int run(int argc, char** argv) {
  const auto invocation = parse_invocation(argc, argv);
  if (!invocation) return kExitDone;
  if (invocation->check_config) return check_configuration(kProgram, argc, argv, *invocation);
  const Options options = load_options(argc, argv);
  Surroundings surroundings(options);
  // Losing whoever reads the log is no reason to drop the exports.
  std::signal(SIGPIPE, SIG_IGN);
  // Neither is a write that a limit of this process forbids: it fails.
  std::signal(SIGXFSZ, SIG_IGN);
  start_logging(kProgram, options.log_level);
  const ServiceManager service_manager;
  InheritedMemory inherited;
  service_manager.take_back(inherited);
  // What makes no sense is not to end a target that serves.
  auto discards = options.discards;
  check_inherited(service_manager, options, discards, inherited);
  asio::io_context io{1};
  const auto managers = cm::make_managers(methods_of(options.listen), io, options.connections);
  std::optional<Predecessor> predecessor;
  if (options.predecessor) {
    predecessor.emplace(*options.predecessor, SuccessionRequest{options.exports, options.discards},
                        inherited);
    check_inherited(service_manager, options, discards, inherited);
  }
  tell_idle_discards(discards);
  const auto load = [argc, argv] { return load_options(argc, argv); };
  auto end = serve(io, managers, service_manager, options, std::move(inherited), load,
                   [&](const Server& server) {
                     if (predecessor) predecessor->confirm();
                     surroundings.begin(server);
                   });
  if (end.successor) hand_over(std::move(end.memory), std::move(*end.successor));
  return surroundings.end();
}

}  // namespace
}  // namespace rdmablk::target

int main(int argc, char** argv) {
  return rdmablk::run_program(rdmablk::target::kProgram, rdmablk::target::run, argc, argv);
}
