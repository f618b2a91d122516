#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/cm/connection.h"
#include "common/lifetime.h"
#include "common/protocol/private_data.h"
#include "target/counts.h"
#include "target/session.h"
#include "target/session_environment.h"
#include "target/session_roll.h"

namespace rdmablk::target {

/// The sessions of a target: lets them in, has the one that is resumed end before the one that
/// resumes it, and keeps each until nothing is left of it. Opening one takes as long however many
/// there are. Used by the control thread.
class Sessions final : private SessionOwner {
 public:
  /// @param environment outlives this.
  explicit Sessions(const SessionEnvironment& environment) : environment_(environment) {}

  /// Accepts a connection as the admin queue of a new session.
  /// @return why it was refused; nothing when it was accepted. Throws MemlockError or SystemError;
  /// the connection is the caller's to refuse then, unless it is gone.
  std::optional<protocol::QueueRefusal> open(std::unique_ptr<cm::Connection>& connection,
                                             std::shared_ptr<const TargetDevice> device);

  /// Takes a request to connect an I/O queue of any session: see QueueTable::connect().
  std::optional<protocol::QueueRefusal> open_queue(std::unique_ptr<cm::Connection>& connection,
                                                   const protocol::QueueRequest& request);

  /// Tells all that have an export attached, and take that, that it was resized.
  void announce_size(const std::string& name);

  /// How many attachments of an export may use more than so many bytes of it and cannot be told.
  std::size_t count_deaf(const std::string& name, std::uint64_t size) const;

  /// Ends the sessions that have not acknowledged in time that an export has no more bytes.
  void expel_slow(const std::string& name, std::uint64_t size);

  /// Ends those of clients that have no key any more, whichever it was that they came with.
  void expel_without_key(const ClientKeys& keys);

  /// What a device that is gone has taken along.
  struct Losses {
    std::size_t sessions = 0;
    std::size_t queues = 0;  ///< I/O queues, also of other sessions
  };

  /// A device is gone: ends the sessions that came over it, and the I/O queues of others that did.
  Losses end_device(const ibv_context* device, const std::string& reason);

  /// Ends the attachments of an export that goes away, and answers what waits for one.
  void end_export(const std::string& name);

  /// The same for those that its rules do not allow any more.
  void end_disallowed(const std::string& name);

  /// Tells each that the target is about to end.
  /// @param all_gone called when nothing is left of any, maybe from within.
  void say_goodbye(std::function<void()> all_gone);

  /// Those whose initiators are known and that are served.
  std::size_t size() const noexcept { return roll_.size(); }

  /// @param changed called whenever that may be another number; outlives this.
  void on_size(std::function<void()> changed) { size_changed_ = std::move(changed); }

  /// Those that have not ended.
  std::size_t lasting() const;

  /// Adds what they have.
  void count(Counts& counts) const;

  /// Those that were let in and have not ended, in the order of their numbers.
  std::vector<SessionStatus> status() const;

  /// Ends one, and tells its initiator why. @return whether there is one of that number.
  bool evict(std::uint32_t id, const std::string& reason);

  /// Destroys all. Nobody is told that they are gone.
  void clear() noexcept;

 private:
  void on_session_joins(Session& session) override;
  void fence(std::uint64_t attachment, const std::string& taker) override;
  void on_session_leaves(Session& session) override;
  void on_session_over(Session& session) override;

  std::optional<protocol::QueueRefusal> make_room(const std::string& host);
  std::optional<std::string> exceeds_limits(const Session& session,
                                            std::span<const std::uint32_t> resumed) const;
  std::uint32_t next_id();
  Session* find(std::uint32_t id) const;
  void remove(std::uint32_t id);
  void tell_size() const;

  const SessionEnvironment& environment_;
  std::uint32_t last_id_ = 0;
  SessionRoll roll_;
  std::function<void()> all_gone_;
  std::function<void()> size_changed_;
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
