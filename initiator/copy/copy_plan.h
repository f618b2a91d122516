#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "common/protocol/io_messages.h"
#include "initiator/wake_event.h"

namespace rdmablk::copy {

/// A part of what is to be copied.
struct Piece {
  std::uint64_t offset = 0;  ///< bytes from where the copied range begins
  std::uint64_t length = 0;  ///< bytes, at least 1
  bool is_hole = false;      ///< it is known to read as zeroes

  bool operator==(const Piece&) const = default;
};

/// Cuts what is to be copied into pieces, in ascending order, for whichever thread asks next.
class CopyPlan {
 public:
  /// Tells where there are holes: what a range consists of, from its start to its end. Called by
  /// one thread at a time. May throw Error.
  using Map =
      std::function<std::vector<protocol::Extent>(std::uint64_t offset, std::uint64_t length)>;

  /// A length that nobody knows beforehand: finish() says when there is no more.
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  struct Options {
    std::uint64_t length = 0;      ///< bytes, or kUnknown
    std::uint64_t block_size = 0;  ///< bytes of the largest piece of data, at least 1
    std::uint64_t hole_size = 0;   ///< bytes of the largest hole, at least 1
    Map map;                       ///< without it, all is data
  };

  /// Throws SystemError.
  explicit CopyPlan(Options options) : options_(std::move(options)) {}

  /// The next piece; nothing when there are no more. Throws what the map throws.
  std::optional<Piece> next();

  /// There are no more pieces; those that were handed out are finished.
  void finish() noexcept { finished_.store(true, std::memory_order_relaxed); }

  /// The same, and those that were handed out are given up as soon as may be.
  void stop() noexcept {
    stopped_.store(true, std::memory_order_relaxed);
    finish();
    stop_event_.signal();
  }
  /// Readable once it is stopped.
  int stop_fd() const noexcept { return stop_event_.fd(); }
  bool is_stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }

  std::uint64_t length() const noexcept { return options_.length; }

 private:
  protocol::Extent& current_extent();

  Options options_;
  std::mutex mutex_;
  std::uint64_t position_ = 0;
  std::vector<protocol::Extent> extents_;  ///< from position_ on, those before extent_ used up
  std::size_t extent_ = 0;
  std::atomic<bool> finished_ = false;
  std::atomic<bool> stopped_ = false;
  initiator::WakeEvent stop_event_;
};

/// A map in which all is a hole: for writing zeroes.
std::vector<protocol::Extent> all_holes(std::uint64_t offset, std::uint64_t length);

}  // namespace rdmablk::copy
