#include <csignal>

#include "common/error.h"
#include "common/log.h"
#include "target/memory_holder.h"
#include "target/options.h"
#include "target/server.h"

namespace rdmablk::target {
namespace {

constexpr const char* kProgram = "rdmablk-target";

void check_inherited(const ServiceManager& service_manager, const Options& options,
                     InheritedMemory& inherited) {
  for (const std::string& name : options.discards) {
    if (!inherited.discard(name)) continue;
    spdlog::warn("export '{}': the memory that was kept is let go of, as --discard says", name);
    service_manager.remove_memory(name);
  }
  inherited.check(options.exports);
}

/// Everything of the server is gone when this returns.
ServerEnd serve(cm::ConnectionManager& manager, const ServiceManager& service_manager,
                const Options& options, InheritedMemory inherited,
                const std::function<void()>& on_serving) {
  Server server(manager, service_manager, options, std::move(inherited));
  return server.run(on_serving);
}

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return kExitDone;
  // Losing whoever reads the log is no reason to drop the exports.
  std::signal(SIGPIPE, SIG_IGN);
  // Neither is a write that a limit of this process forbids: it fails.
  std::signal(SIGXFSZ, SIG_IGN);
  start_logging(kProgram, options->log_level);
  const ServiceManager service_manager;
  InheritedMemory inherited;
  service_manager.take_back(inherited);
  // What makes no sense is not to end a target that serves.
  check_inherited(service_manager, *options, inherited);
  const auto manager = cm::make_rdmacm();
  std::optional<Predecessor> predecessor;
  if (options->predecessor) {
    predecessor.emplace(*options->predecessor,
                        SuccessionRequest{options->exports, options->discards}, inherited);
    check_inherited(service_manager, *options, inherited);
  }
  auto end = serve(*manager, service_manager, *options, std::move(inherited), [&] {
    if (predecessor) predecessor->confirm();
  });
  if (end.successor) hand_over(std::move(end.memory), std::move(*end.successor));
  return kExitDone;
}

}  // namespace
}  // namespace rdmablk::target

int main(int argc, char** argv) {
  return rdmablk::run_program(rdmablk::target::kProgram, rdmablk::target::run, argc, argv);
}
