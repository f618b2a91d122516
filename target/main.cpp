#include <csignal>

#include "common/error.h"
#include "common/log.h"
#include "target/options.h"
#include "target/server.h"

namespace rdmablk::target {
namespace {

constexpr const char* kProgram = "rdmablk-target";

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) return kExitDone;
  // Losing whoever reads the log is no reason to drop the exports.
  std::signal(SIGPIPE, SIG_IGN);
  // Neither is a write that a limit of this process forbids: it fails.
  std::signal(SIGXFSZ, SIG_IGN);
  start_logging(kProgram, options->log_level);
  const auto manager = cm::make_rdmacm();
  Server(*manager, *options).run();
  return kExitDone;
}

}  // namespace
}  // namespace rdmablk::target

int main(int argc, char** argv) {
  return rdmablk::run_program(rdmablk::target::kProgram, rdmablk::target::run, argc, argv);
}
