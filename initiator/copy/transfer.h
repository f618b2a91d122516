#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "initiator/cli/map_reader.h"
#include "initiator/cli/termination_signals.h"
#include "initiator/copy/copy_worker.h"
#include "initiator/copy/endpoint.h"
#include "initiator/copy/lane.h"
#include "initiator/copy/lane_plan.h"

namespace rdmablk::copy {

/// How to move data.
struct TransferOptions {
  static constexpr unsigned kMaxDepth = 256;
  static constexpr unsigned kMaxQueues = 64;
  static constexpr std::uint64_t kMaxBlockSize = std::uint64_t{64} << 20U;

  unsigned queues = 2;                           ///< each with a thread, 1 to kMaxQueues
  unsigned depth = 8;                            ///< pieces under way on each, 1 to kMaxDepth
  std::uint64_t block_size = 1U << 20U;          ///< bytes of a piece, 512 to kMaxBlockSize
  std::optional<std::size_t> sparse_unit{4096};  ///< bytes; nothing: holes are not looked for
  bool verify = false;
  bool shows_progress = true;
  std::string doing = "copying";  ///< in front of the progress bar
};

/// What part of the source goes where.
struct TransferRange {
  std::uint64_t source_offset = 0;       ///< bytes
  std::uint64_t destination_offset = 0;  ///< bytes
  std::uint64_t length = 0;              ///< bytes, or CopyPlan::kUnknown
};

struct TransferResult {
  std::uint64_t data_bytes = 0;        ///< that were written as data
  std::uint64_t zero_bytes = 0;        ///< that became, or were left as, zeroes
  std::chrono::nanoseconds elapsed{};  ///< from the first request to the end of the flush
  bool verified = false;
};

/// Moves data from one end to another, flushes, and compares if that is wanted.
class Transfer {
 public:
  /// Makes the queues and their memory; changes nothing yet. Throws Error.
  /// @param source outlives this, as does the destination.
  Transfer(Endpoint& source, Endpoint& destination, const TransferRange& range,
           const TransferOptions& options);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  /// Instead of copying, has the destination be zero.
  /// @param discard its space may be given back.
  void only_zero(bool discard);

  /// Once. Throws Error when anything fails, and when SIGINT or SIGTERM came (see Crew::run()).
  TransferResult run();

 private:
  using Workers = std::vector<std::unique_ptr<PieceWorker>>;

  unsigned lane_count() const;
  LanePlan lane_plan() const;
  bool source_has_holes() const;
  bool is_sparse() const noexcept { return options_.sparse_unit.has_value(); }
  Zeroes zeroes() const;
  CopyWorker::Options worker_options() const;
  CopyPlan::Options plan_options(std::uint64_t hole_size);
  void copy(TransferResult& result);
  void verify(std::uint64_t length);
  void flush();
  void work(const Workers& workers, CopyPlan& plan, const std::string& doing,
            const std::string& consequence);
  void check(const Workers& workers) const;
  std::string interruption_text(std::uint64_t bytes, std::uint64_t total) const;

  Endpoint& source_;
  Endpoint& destination_;
  TransferRange range_;
  TransferOptions options_;
  bool only_zeroes_ = false;
  bool discards_ = false;
  cli::TerminationSignals termination_;  // before any thread
  std::unique_ptr<cli::MapReader> map_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::string unfinished_;  ///< what an error means for the destination
};

}  // namespace rdmablk::copy
