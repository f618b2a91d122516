#include "initiator/copy/transfer.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/counted.h"
#include "common/error.h"
#include "common/log.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "initiator/cli/session_watch.h"
#include "initiator/copy/compare_worker.h"
#include "initiator/copy/crew.h"
#include "initiator/copy/failure_text.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;

/// Bytes of the largest request to zero: what comes between two looks at whether to go on.
constexpr std::uint64_t kMaxHole = std::uint64_t{64} << 20U;

std::uint16_t granted_queues(const Endpoint& end) {
  const auto* remote = end.remote();
  return remote == nullptr ? TransferOptions::kMaxQueues : remote->attachment().queues;
}

}  // namespace

Transfer::Transfer(Endpoint& source, Endpoint& destination, const TransferRange& range,
                   const TransferOptions& options)
    : source_(source),
      destination_(destination),
      range_(range),
      options_(options),
      unfinished_(fmt::format("{} is incomplete", destination.name())) {
  if (source_has_holes()) map_ = std::make_unique<cli::MapReader>(source_.image());
  const std::uint64_t limit = destination_.has_fixed_size() ? destination_.size() : UINT64_MAX;
  const Ends ends{{&source_.image(), range_.source_offset},
                  {&destination_.image(), range_.destination_offset, limit}};
  const LanePlan plan = lane_plan();
  options_.block_size = plan.block_size;
  for (unsigned lane = plan.lanes; lane > 0; --lane) {
    lanes_.push_back(std::make_unique<Lane>(ends, plan.blocks, plan.block_size));
  }
}

Transfer::~Transfer() = default;

/// What is wanted, or as much as there may be memory for.
LanePlan Transfer::lane_plan() const {
  const unsigned least = options_.verify ? CompareWorker::kBlocks : 1;
  const LanePlan wanted{lane_count(), std::max(options_.depth, least), options_.block_size};
  const unsigned ends =
      (source_.remote() != nullptr ? 1U : 0U) + (destination_.remote() != nullptr ? 1U : 0U);
  const std::uint64_t limit = verbs::memlock_limit();
  const LanePlan plan = fit_to_memlock(wanted, least, ends, limit);
  if (plan != wanted) {
    spdlog::warn(
        "the limit of locked memory is {}: buffers shrink from {} to {} ({}, depth {}, blocks of "
        "{}); raise it with `ulimit -l` or LimitMEMLOCK=",
        format_size(limit), format_size(locked_memory(wanted, ends)),
        format_size(locked_memory(plan, ends)), counted(plan.lanes, "queue"), plan.blocks,
        format_size(plan.block_size));
  }
  return plan;
}

/// A stream is one, and a target may have granted fewer queues than were asked for.
unsigned Transfer::lane_count() const {
  if (source_.is_stream() || destination_.is_stream()) return 1;
  const unsigned of_map = map_ != nullptr && source_.remote() != nullptr ? 1 : 0;
  const unsigned from_source = std::max<unsigned>(granted_queues(source_), of_map + 1) - of_map;
  const unsigned granted = std::min<unsigned>(from_source, granted_queues(destination_));
  return std::clamp(granted, 1U, options_.queues);
}

bool Transfer::source_has_holes() const {
  return is_sparse() && source_.image().info().has_holes && granted_queues(source_) > 1;
}

void Transfer::only_zero(bool discard) {
  only_zeroes_ = true;
  discards_ = discard;
}

/// A new file, and one that was emptied, is a hole already.
Zeroes Transfer::zeroes() const {
  if (only_zeroes_) return discards_ ? Zeroes::discard : Zeroes::write;
  if (!destination_.is_stream() && !destination_.has_fixed_size()) return Zeroes::skip;
  return destination_.image().info().can_discard ? Zeroes::discard : Zeroes::write;
}

/// Where zeroes would be written anyway, there is no use in looking for them.
CopyWorker::Options Transfer::worker_options() const {
  const bool looks = is_sparse() && zeroes() != Zeroes::write;
  return {zeroes(), looks ? *options_.sparse_unit : 0};
}

CopyPlan::Options Transfer::plan_options(std::uint64_t hole_size) {
  CopyPlan::Options plan{range_.length, options_.block_size, hole_size, {}};
  if (only_zeroes_) {
    plan.map = all_holes;
  } else if (map_) {
    plan.map = [this](std::uint64_t offset, std::uint64_t length) {
      return map_->read(range_.source_offset + offset, length);
    };
  }
  return plan;
}

TransferResult Transfer::run() {
  std::optional<cli::SessionWatch> source_watch;
  std::optional<cli::SessionWatch> destination_watch;
  if (source_.session() != nullptr) source_watch.emplace(*source_.session());
  if (destination_.session() != nullptr) destination_watch.emplace(*destination_.session());
  TransferResult result;
  copy(result);
  if (options_.verify) {
    verify(result.data_bytes + result.zero_bytes);
    result.verified = true;
  }
  return result;
}

void Transfer::copy(TransferResult& result) {
  const auto start = std::chrono::steady_clock::now();
  DiskImage* const file = destination_.disk();
  const bool is_length_known = range_.length != CopyPlan::kUnknown;
  if (file != nullptr) file->begin(is_length_known ? range_.length : 0);
  CopyPlan plan(plan_options(kMaxHole));
  Workers workers;
  for (const auto& lane : lanes_) {
    workers.push_back(std::make_unique<CopyWorker>(*lane, plan, worker_options()));
  }
  work(workers, plan, options_.doing, unfinished_);
  for (const auto& worker : workers) {
    const auto& copier = dynamic_cast<const CopyWorker&>(*worker);
    result.data_bytes += copier.data_bytes();
    result.zero_bytes += copier.zero_bytes();
  }
  if (file != nullptr && !is_length_known) file->set_size(result.data_bytes + result.zero_bytes);
  flush();
  result.elapsed = std::chrono::steady_clock::now() - start;
}

void Transfer::verify(std::uint64_t length) {
  range_.length = length;
  for (const Endpoint* end : {&source_, &destination_}) {
    if (end->disk() != nullptr) end->disk()->forget_cached();
  }
  CopyPlan plan(plan_options(options_.block_size));
  Workers workers;
  for (const auto& lane : lanes_) workers.push_back(std::make_unique<CompareWorker>(*lane, plan));
  work(workers, plan, "verifying",
       fmt::format("{} is written, and not verified", destination_.name()));
  std::optional<Difference> first;
  for (const auto& worker : workers) {
    const auto& found = dynamic_cast<const CompareWorker&>(*worker).difference();
    if (found && (!first || found->position < first->position)) first = found;
  }
  if (!first) return;
  throw Error(fmt::format("{} and {} differ at offset {}: {:#04x} and {:#04x}", source_.name(),
                          destination_.name(), range_.destination_offset + first->position,
                          first->source, first->destination));
}

void Transfer::work(const Workers& workers, CopyPlan& plan, const std::string& doing,
                    const std::string& consequence) {
  unfinished_ = consequence;
  const std::uint64_t total = plan.length();
  {
    Crew crew(workers, plan, termination_,
              [this, total](std::uint64_t bytes) { return interruption_text(bytes, total); });
    Progress progress(doing, total, options_.shows_progress);
    crew.run(progress);
  }
  check(workers);
}

std::string Transfer::interruption_text(std::uint64_t bytes, std::uint64_t total) const {
  const std::string whole = total == CopyPlan::kUnknown ? "" : fmt::format(" of {}", total);
  return fmt::format("interrupted after {}{} bytes; {}", bytes, whole, unfinished_);
}

void Transfer::check(const Workers& workers) const {
  for (const auto& worker : workers) {
    if (worker->failure()) {
      throw Error(fmt::format(
          "{}; {}", failure_text(*worker->failure(), source_, destination_, range_), unfinished_));
    }
    if (!worker->plan_failure()) continue;
    try {
      std::rethrow_exception(worker->plan_failure());
    } catch (const Error& error) {
      throw Error(fmt::format("{}; {}", error.what(), unfinished_));
    }
  }
}

/// What was written is on stable storage once this returns. Throws Error.
void Transfer::flush() {
  initiator::Queue& queue = lanes_.front()->queue(Side::destination);
  initiator::Request request;
  request.operation = Operation::flush;
  initiator::Request* done = nullptr;
  queue.submit(request);
  queue.kick();
  while (queue.poll({&done, 1}) == 0) {
    queue.arm();
    if (queue.poll({&done, 1}) > 0) break;
    std::array<pollfd, 2> waiting{{{queue.fd(), POLLIN, 0}, {termination_.fd(), POLLIN, 0}}};
    ::poll(waiting.data(), waiting.size(), -1);
    if ((waiting[1].revents & POLLIN) == 0) continue;
    print_error("rdmablk", fmt::format("interrupted while flushing; {} may lose what was written",
                                       destination_.name()));
    ::_exit(kExitFailed);
  }
  if (request.error != 0) {
    throw Error(fmt::format("cannot flush {}: {}{}; it may lose what was written",
                            destination_.name(), errno_text(request.error), loss_of(destination_)));
  }
}

}  // namespace rdmablk::copy
