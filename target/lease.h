#pragma once

#include <spdlog/common.h>

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/log_limiter.h"
#include "target/session_peer.h"

namespace rdmablk::target {

class ExportIdentity;
class Lease;

/// Waits for a lease; made and owned by who waits, who stops waiting by destroying it.
class LeaseWaiter : public boost::intrusive::list_base_hook<
                        boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  /// The lease may be free now, unless one who waited longer takes it. It waits on. From within
  /// whatever released the lease: must only take note.
  virtual void on_lease_free() noexcept = 0;

 protected:
  ~LeaseWaiter() = default;
};

/// What an attachment that writes and each of its I/O queues share: as long as one is there, the
/// lease is held.
class LeaseHold {
 public:
  /// See Lease::grant().
  LeaseHold(Lease& lease, std::uint64_t number) noexcept : lease_(lease), number_(number) {}
  ~LeaseHold();
  LeaseHold(const LeaseHold&) = delete;
  LeaseHold& operator=(const LeaseHold&) = delete;

  std::uint64_t number() const noexcept { return number_; }

  /// The attachment has ended, and its queues will.
  void leave() noexcept;

 private:
  Lease& lease_;
  std::uint64_t number_;
};

/// The right to write to one export, which one attachment has at a time. Control thread.
class Lease {
 public:
  using Clock = std::chrono::system_clock;

  struct Holder {
    std::uint64_t attachment = 0;
    SessionPeer peer;
  };

  /// @param name of the export. @param identity where the numbers come from; outlives the lease.
  Lease(std::string name, ExportIdentity& identity);
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  bool is_held() const noexcept { return held_; }

  /// Whether the attachment that holds it has ended, and only its queues are not through yet.
  bool is_leaving() const noexcept { return held_ && leaving_; }

  /// The holder; when it is not held, the last one, if there was any.
  const Holder& holder() const noexcept { return holder_; }

  /// The number of the last grant; zero: there was none.
  std::uint64_t number() const noexcept;

  /// Grants it under a new number. @pre it is not held. Throws Error when the number cannot be
  /// kept.
  std::shared_ptr<LeaseHold> grant(Holder holder, Clock::time_point now = Clock::now());

  /// Grants it under the last number again, to one who held it. @pre it is not held.
  std::shared_ptr<LeaseHold> renew(Holder holder, Clock::time_point now = Clock::now());

  /// Whether it may be granted to a client under its last number again. Numbers are guessed easily:
  /// whoever had it last may, as far as that is known.
  bool may_renew(const SessionPeer& peer) const noexcept;

  /// Logs what failed.
  void report(const std::string& what);

  /// Puts somebody in the line: those who take over stand before those who do not.
  void wait(LeaseWaiter& waiter, bool takes_over);

  /// For people: "held for writing by 10.0.0.2:4711 since 2026-11-29 21:40:05 (3 min ago)". Of the
  /// last holder when it is not held.
  std::string text(Clock::time_point now = Clock::now()) const;

 private:
  friend class LeaseHold;
  static constexpr unsigned kLogLines = 200;  ///< in a window of time
  using Waiters = boost::intrusive::list<LeaseWaiter, boost::intrusive::constant_time_size<false>>;

  std::shared_ptr<LeaseHold> hold(Holder holder);
  void log(spdlog::level::level_enum level, const std::string& what);
  void release() noexcept;

  std::string name_;
  ExportIdentity& identity_;
  Holder holder_;
  Clock::time_point since_;
  bool held_ = false;
  bool leaving_ = false;
  LogLimiter log_{kLogLines};
  Waiters takers_;
  Waiters waiters_;
};

}  // namespace rdmablk::target
