#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/unique_fd.h"
#include "initiator/capi/memory.h"
#include "initiator/capi/rdmablk.h"
#include "initiator/capi/use_counters.h"
#include "initiator/image.h"
#include "initiator/request_list.h"
#include "initiator/wake_event.h"

namespace rdmablk::capi {

/// A request of the program, or a piece of a call that waits.
struct Slot : initiator::Request {
  using Clock = std::chrono::steady_clock;

  enum class State : std::uint8_t {
    idle,
    under_way,
    ended,  ///< and not reaped
  };

  State state = State::idle;
  bool is_piece = false;    ///< for calls that wait
  int given_up = 0;         ///< ECANCELED or ETIMEDOUT: it shall end with that if it can
  std::int64_t number = 0;  ///< of the request, or of the call; stays until there is another
  void* user = nullptr;     ///< the program's; of a piece that reads: where its data goes
  rdmablk_memory* memory = nullptr;  ///< null: none, or the queue's own
  Clock::time_point deadline = Clock::time_point::max();
};

/// What a request is to do.
struct Wish {
  initiator::Operation operation;
  std::byte* data = nullptr;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;
  unsigned flags = 0;

  bool has_data() const noexcept {
    return operation == initiator::Operation::read || operation == initiator::Operation::write;
  }
};

/// An image's queue with room for as many requests as it is deep. One thread at a time; nothing
/// here allocates or locks once it is made, but for the first call that waits.
class RequestQueue {
 public:
  using Clock = Slot::Clock;

  /// @param owner whose memory requests work on. @param image outlives the queue, as `use` does.
  /// Throws Error.
  RequestQueue(const rdmablk_image& owner, initiator::Image& image, UseCounters& use,
               unsigned depth);
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Whether the calling thread of the program may call; leave() afterwards. Not when another one
  /// is calling: that must not be.
  bool enter() noexcept;
  void leave() noexcept { user_.store(User::nobody, std::memory_order_release); }

  /// Takes up what the queue was told, unless the program is calling. Any thread.
  void care() noexcept;

  // The calls of rdmablk.h, between enter() and leave().
  std::int64_t submit(const Wish& wish, rdmablk_memory* memory, void* user) noexcept;
  int run(const Wish& wish) noexcept;
  int cancel(std::int64_t request) noexcept;
  int reap(std::span<rdmablk_completion> completions) noexcept;
  int wait(std::span<rdmablk_completion> completions, Clock::time_point until) noexcept;
  void kick() noexcept;
  int watch() noexcept;
  void set_timeout(Clock::duration timeout) noexcept { timeout_ = timeout; }
  unsigned pending() const noexcept { return pending_; }

 private:
  // queue.cpp: requests
  int check(const Wish& wish, unsigned allowed) const noexcept;
  void start(Slot& slot, const Wish& wish, Clock::time_point deadline) noexcept;
  void collect() noexcept;
  void end(Slot& slot, int error) noexcept;
  void let_go() noexcept;
  std::size_t take(std::span<rdmablk_completion> completions) noexcept;
  void show() noexcept;
  int sleep(Clock::time_point until) noexcept;

  // queue.cpp: time
  Clock::time_point deadline_from_now() const noexcept;
  void expect(Clock::time_point deadline) noexcept;
  void note_time() noexcept;

  // waiting_call.cpp
  int perform(const Wish& wish) noexcept;
  Slot* take_piece() noexcept;
  bool settle_pieces(int& error) noexcept;
  void begin_pieces(Wish& rest) noexcept;
  bool has_pieces() const noexcept;
  void abandon_pieces() noexcept;

  enum class User : std::uint8_t { nobody, program, caretaker };

  const rdmablk_image& owner_;
  UseCounters& use_;
  initiator::Image& image_;
  const bool read_only_;
  std::vector<Slot> slots_;  ///< the program's requests, and the pieces behind them
  std::span<Slot> requests_;
  std::span<Slot> pieces_;
  std::unique_ptr<initiator::RequestBuffers> bounce_;  ///< of the pieces; null: not needed yet
  std::unique_ptr<initiator::Queue> queue_;            // goes before the memory
  initiator::RequestList idle_;                        ///< of requests_
  initiator::RequestList ended_;                       ///< of requests_
  std::int64_t round_ = 0;                             ///< makes numbers that were not there before
  unsigned pending_ = 0;                               ///< of requests_: submitted, not reaped
  unsigned given_up_ = 0;                              ///< of slots_: given up and still under way
  bool has_more_ = false;                              ///< the device was not told of all
  bool is_watched_ = false;                            ///< the program has the descriptor
  bool is_shown_ = false;                              ///< shown_ is signalled
  bool is_begun_ = false;                              ///< the call that waits: with anything
  Clock::time_point call_deadline_ = Clock::time_point::max();
  Clock::duration timeout_ = Clock::duration::max();
  Clock::time_point next_time_ = Clock::time_point::max();  ///< that timer_ is set to
  UniqueFd timer_;
  initiator::WakeEvent shown_;  ///< something is in ended_, and watch()'s descriptor is to tell
  UniqueFd wait_set_;           ///< an epoll descriptor
  std::atomic<User> user_ = User::nobody;
};

}  // namespace rdmablk::capi

/// The same by its name in C.
struct rdmablk_queue final : rdmablk::capi::RequestQueue {
  using RequestQueue::RequestQueue;
};
