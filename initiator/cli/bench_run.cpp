#include "initiator/cli/bench_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "common/counted.h"
#include "common/error.h"
#include "common/log.h"

#include "initiator/cli/bench_workforce.h"
#include "initiator/cli/session_watch.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::cli {
namespace {

std::unique_ptr<initiator::RemoteImage> attach(initiator::Session& session,
                                               const BenchOptions& options) {
  initiator::AttachOptions attach;
  attach.access =
      has_writes(options.workload) ? protocol::Access::read_write : protocol::Access::read_only;
  attach.queues = options.queues;
  attach.depth = options.depth;
  attach.take_over = options.take_over;
  return session.attach(options.uri.export_name, attach);
}

/// The target forgets an initiator that is gone.
[[noreturn]] void leave(const BenchOptions& options, std::uint64_t unfinished) {
  std::fflush(stdout);
  print_error("rdmablk", fmt::format("{} to {} did not come back (not counted)",
                                     counted(unfinished, "request"), options.uri.text()));
  ::_exit(kExitFailed);
}

}  // namespace

void run_bench(const BenchOptions& options, std::optional<initiator::Credentials> credentials,
               const std::function<void(const BenchResult&)>& report) {
  initiator::SessionOptions wanted{.recovery = options.recovery,
                                   .credentials = std::move(credentials)};
  options.connection.apply_to(wanted);
  const auto session = initiator::Session::connect(options.uri.target, wanted);
  const auto image = attach(*session, options);
  const BenchRange range = bench_range(options, image->info().size);
  BenchWorkforce workforce(*image, options, range);
  const SessionWatch watch(*session);
  const BenchResult result = workforce.run();
  report(result);
  if (result.unfinished > 0) leave(options, result.unfinished);
}

}  // namespace rdmablk::cli
