#include "initiator/cli/bench_run.h"

#include <memory>

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
  return session.attach(options.uri.export_name, attach);
}

}  // namespace

BenchResult run_bench(const BenchOptions& options,
                      const initiator::SessionOptions& session_options) {
  const auto session = initiator::Session::connect(options.uri.target, session_options);
  const auto image = attach(*session, options);
  const BenchRange range = bench_range(options, image->info().size);
  BenchWorkforce workforce(*image, options, range);
  const SessionWatch watch(*session);
  return workforce.run();
}

}  // namespace rdmablk::cli
