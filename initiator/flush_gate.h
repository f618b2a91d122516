#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::initiator {

/// Lets the queues of one image flush in turn: one flush is under way at a time, and all that were
/// asked for before it began share it. Flushes are numbered. One that is asked for while another is
/// under way needs the next: the other's snapshot may lack what it is to cover, and the data in
/// that snapshot is not stable before the other has ended.
///
/// One of those that ask is chosen to do the flush for all. When it goes away before the end,
/// another one is chosen.
class FlushGate {
 public:
  FlushGate() = default;
  FlushGate(const FlushGate&) = delete;
  FlushGate& operator=(const FlushGate&) = delete;

  /// Whether a flush is under way. Any thread.
  bool is_under_way() const noexcept;

  /// How many have begun. Any thread.
  std::uint64_t begun() const noexcept;

  struct Result {
    std::uint64_t number;  ///< of the flush
    int error;             ///< 0, or an errno value
  };

  /// One queue at the gate; used by the queue's thread.
  class Member {
   public:
    /// @param gate outlives it. Throws SystemError.
    explicit Member(FlushGate& gate);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    /// Readable when there is news that it has not been told of; drain() takes what it tells.
    int fd() const noexcept { return event_.get(); }
    void drain() noexcept;

    /// Whether take() or begin() may have something, since the last call.
    bool has_news() noexcept { return news_.load() && news_.exchange(false); }

    /// Asks for a flush that begins after now. @return its number; nothing when there are results
    /// to be taken first.
    std::optional<std::uint64_t> ask() noexcept;

    /// Whether it is this one's turn to flush. If so it takes its snapshot now, flushes, and calls
    /// end() or leave().
    bool begin() noexcept;

    /// @pre begin() said yes. @param error how the flush ended, for all who asked for it.
    void end(int error) noexcept;

    /// How a flush that it asked for has ended; nothing when there is none.
    std::optional<Result> take() noexcept;

    /// Gives up all that it asked for, and leaves a flush that it has begun to another.
    void leave() noexcept;

   private:
    friend class FlushGate;

    FlushGate& gate_;
    UniqueFd event_;
    std::atomic<bool> news_ = false;
    // Of the two flushes that it may have asked for, by their number's last bit. Under the mutex.
    std::array<bool, 2> wants_{};
    std::array<std::optional<Result>, 2> results_{};
  };

 private:
  enum class Phase { idle, chosen, under_way };

  void choose() noexcept;
  static void tell(Member& member) noexcept;

  mutable std::mutex mutex_;
  std::vector<Member*> members_;
  Phase phase_ = Phase::idle;
  std::uint64_t number_ = 0;  ///< of the flush that is under way, or begins next
  std::uint64_t begun_ = 0;   ///< flushes, those that were left included
  Member* leader_ = nullptr;  ///< who does it
};

}  // namespace rdmablk::initiator
