#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "initiator/image.h"
#include "tests/faults/checker_options.h"
#include "tests/faults/lane_writer.h"

namespace rdmablk::faults {

/// What the workers of a process share.
struct CheckerProgress {
  std::atomic<std::uint64_t> operations{0};  ///< submitted
  std::atomic<bool> stop{false};             ///< the time is over
  std::atomic<bool> renew{false};            ///< a queue was given up: all end, for a new session
};

/// One thread of the checker: it reads and writes blocks through a queue, and tells what it did.
/// It lives longer than the session that its queue belongs to.
class CheckerWorker {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param history, progress outlive it. @param lane claimed for it.
  CheckerWorker(const SharedHistory& history, Lane& lane, const CheckerOptions& options,
                CheckerProgress& progress);

  /// Makes a queue of a session, and its buffers. Throws Error.
  /// @param attaching when the attachment was asked for
  void attach(initiator::Image& image, Time attaching);
  /// The thread's work, until there is nothing more to do or a new session is needed.
  void run() noexcept;
  /// Destroys the queue; of what was in flight, all has ended.
  void detach() noexcept;

 private:
  bool goes_on() noexcept;
  void submit(unsigned number) noexcept;
  void choose(Target& target) noexcept;
  std::size_t wait() noexcept;
  void complete(initiator::Request& request) noexcept;
  void note_failure() noexcept;
  void note_success() noexcept;
  std::span<Tag> words(unsigned number) noexcept;

  const SharedHistory& history_;
  const CheckerOptions options_;
  CheckerProgress& progress_;
  LaneWriter lane_;
  std::mt19937_64 random_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;  // outlive the queue
  std::vector<initiator::Request> requests_;
  std::vector<std::uint64_t> submitted_;  ///< when, counted in submissions
  std::vector<initiator::Request*> ended_;
  std::unique_ptr<initiator::Queue> queue_;
  std::vector<unsigned> idle_;  ///< requests that are not in flight
  std::uint64_t submissions_ = 0;
  bool fails_ = false;        ///< nothing that was submitted since the last failure has succeeded
  bool new_session_ = false;  ///< nothing has succeeded in this session
  std::uint64_t failed_at_ = 0;  ///< the submission after the last failure
  Clock::time_point fails_since_;
};

}  // namespace rdmablk::faults
