#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "initiator/connected_queue.h"
#include "initiator/wake_event.h"

namespace rdmablk::initiator {

/// What becomes of requests that have no connection.
enum class Service : std::uint8_t {
  waiting,  ///< they wait for one
  failing,  ///< they end with EIO
  lost,     ///< they end with EIO for good
};

/// Where the thread of a queue and the control thread meet: the one gives up connections that are
/// lost, the other gives new ones. Connections belong to the control thread, so that it is there
/// that a dead one is destroyed. Neither ever waits for the other.
class HandOver {
 public:
  /// @param control wakes the control thread; outlives this. Throws SystemError.
  explicit HandOver(WakeEvent& control) : control_(control) {}
  ~HandOver();
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

  // The control thread.

  /// Gives a new connection, which the target accepts once it has fenced the one before.
  /// @pre the one before was given up, or was called back.
  void deliver(std::unique_ptr<ConnectedQueue> queue) noexcept;

  /// Takes back what deliver() gave and nobody has taken yet; null: somebody has.
  std::unique_ptr<ConnectedQueue> call_back() noexcept;

  /// Takes what was given up; null when nothing was.
  std::unique_ptr<ConnectedQueue> take_given_up() noexcept;
  bool has_given_up() const noexcept {
    return given_up_.load(std::memory_order_acquire) != nullptr;
  }

  /// Gives another size to take up, in place of what offer_resize() gave and nobody has taken yet.
  void offer_resize(std::unique_ptr<QueueResize> resize) noexcept;

  /// Takes that back, if nobody has taken it.
  void call_back_resize() noexcept;

  /// Takes what was given back; null when nothing was.
  std::unique_ptr<QueueResize> take_resized() noexcept;
  bool has_resized() const noexcept { return resized_.load(std::memory_order_acquire) != nullptr; }

  /// Asks for the connection, to be given up as soon as nothing is under way on it: the next is to
  /// take another path. Until deliver().
  void ask_to_leave() noexcept;

  /// How many requests the last one that was given up had not done.
  std::uint64_t undone() const noexcept { return undone_.load(std::memory_order_relaxed); }

  /// Says what becomes of requests from now on.
  void set_service(Service service) noexcept;

  /// All connections of the image have been ended: the target fences them before it takes part in
  /// anything else.
  void set_fenced() noexcept;
  bool is_fenced() const noexcept { return fenced_.load(std::memory_order_acquire); }

  // The queue's thread, which may ask is_fenced(), too: whether nothing that it had under way can
  // get done after what the image does from now on.

  /// Readable when there is news for it.
  int fd() const noexcept { return news_.fd(); }

  /// Takes what makes fd() readable; cheap when there is nothing.
  void drain() noexcept {
    if (told_.load(std::memory_order_relaxed) != heard_) [[unlikely]]
      heard_ += news_.take();
  }

  /// Takes a new connection; null when there is none. After drain().
  std::unique_ptr<ConnectedQueue> take() noexcept;

  /// Gives up a connection that is down, or was asked for. @param undone requests that it had not
  /// done.
  void give_up(std::unique_ptr<ConnectedQueue> queue, std::uint64_t undone) noexcept;

  /// Whether the connection is to be given up once it is idle.
  bool is_to_leave() const noexcept { return leaving_.load(std::memory_order_relaxed); }

  /// Whether there is another size to take up.
  bool has_resize() const noexcept { return resize_.load(std::memory_order_relaxed) != nullptr; }

  /// Takes it; null when there is none (any more).
  std::unique_ptr<QueueResize> take_resize() noexcept;

  /// Gives it back, once nothing uses the old one.
  void give_back_resize(std::unique_ptr<QueueResize> resize) noexcept;

  Service service() const noexcept { return service_.load(std::memory_order_acquire); }

 private:
  void tell() noexcept;

  WakeEvent& control_;
  WakeEvent news_;
  std::atomic<std::uint64_t> told_ = 0;  ///< signals of news_, those to come in a moment included
  std::uint64_t heard_ = 0;              ///< of them
  std::atomic<ConnectedQueue*> delivered_ = nullptr;
  std::atomic<ConnectedQueue*> given_up_ = nullptr;
  std::atomic<QueueResize*> resize_ = nullptr;
  std::atomic<QueueResize*> resized_ = nullptr;
  std::atomic<std::uint64_t> undone_ = 0;
  std::atomic<Service> service_ = Service::waiting;
  std::atomic<bool> fenced_ = false;
  std::atomic<bool> leaving_ = false;
};

}  // namespace rdmablk::initiator
