#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>

#include "common/lifetime.h"
#include "target/lease.h"
#include "target/step.h"

namespace rdmablk::target {

/// The ATTACHes of a session that wait for a lease: each is tried again whenever that may be free,
/// and given up after a time. Control thread.
class AttachWaits {
 public:
  /// Is told of a request by its ticket, from the event loop. May add and remove.
  using Call = std::function<void(std::uint64_t ticket)>;

  /// @param io outlives this.
  AttachWaits(asio::io_context& io, Call retry, Call give_up)
      : io_(io), retry_(std::move(retry)), give_up_(std::move(give_up)) {}
  AttachWaits(const AttachWaits&) = delete;
  AttachWaits& operator=(const AttachWaits&) = delete;

  void add(const LeaseWait& wait, std::chrono::milliseconds time);

  /// It has been answered, or is to be forgotten.
  void remove(std::uint64_t ticket) { waits_.erase(ticket); }
  void clear() noexcept { waits_.clear(); }

 private:
  class Wait final : public LeaseWaiter {
   public:
    Wait(AttachWaits& waits, const LeaseWait& wait, std::chrono::milliseconds time);
    void on_lease_free() noexcept override;

   private:
    AttachWaits& waits_;
    std::uint64_t ticket_;
    asio::steady_timer deadline_;
    Lifetime lifetime_;
  };

  asio::io_context& io_;
  Call retry_;
  Call give_up_;
  std::map<std::uint64_t, Wait> waits_;
};

}  // namespace rdmablk::target
