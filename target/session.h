#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/protocol/message_channel.h"
#include "target/admin_rate.h"
#include "target/administration.h"
#include "target/attach_waits.h"
#include "target/counts.h"
#include "target/queue_table.h"
#include "target/session_environment.h"
#include "target/session_protocol.h"
#include "target/silence_watch.h"
#include "target/target_device.h"

namespace rdmablk::target {

/// One initiator: its admin queue, and the I/O queues of its attachments. It ends when its admin
/// queue does, and takes all I/O queues with it.
class Session final : private cm::EventHandler,
                      private protocol::MessageHandler,
                      private QueueTableOwner {
 public:
  /// Takes the request of an initiator to connect an admin queue, without answering it yet.
  /// @param id not zero; no other session of the target has it. @param environment and what follows
  /// outlive the session.
  /// Throws MemlockError or SystemError, and leaves the connection to the caller then.
  Session(std::uint32_t id, std::unique_ptr<cm::Connection>& connection,
          std::shared_ptr<const TargetDevice> device, const SessionEnvironment& environment,
          SessionOwner& owner);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Answers the request, and waits a limited time until it is known who it is. Throws SystemError.
  void accept();

  /// Takes a request to connect an I/O queue of one of this session's attachments: see
  /// QueueTable::connect().
  std::optional<protocol::QueueRefusal> connect_queue(std::unique_ptr<cm::Connection>& connection,
                                                      const protocol::QueueRequest& request);

  /// Answers SessionOwner::on_session_joins(): the initiator is in.
  void admit();

  /// The same: it is not, and the session ends.
  void turn_away(protocol::Status status, const std::string& reason);

  /// Ends one of its attachments. @param taker who takes its lease over, for people.
  void end_attachment(std::uint64_t attachment, const std::string& taker);

  /// Tells the initiator, if it has an export attached and takes that, that it was resized.
  void announce_size(const std::string& name);

  /// How many of its attachments of an export may use more than so many bytes of it.
  std::size_t count_larger(const std::string& name, std::uint64_t size) const;

  /// See SessionProtocol::takes_sizes().
  bool takes_sizes() const noexcept { return protocol_.takes_sizes(); }

  /// Ends those of an export that goes away, and answers what waits for one.
  void end_export(const std::string& name);

  /// The same for those that the export's rules do not allow any more.
  void end_disallowed(const std::string& name);

  /// A device is gone: ends it if it came over that, else its I/O queues that did.
  /// @return how many I/O queues have ended.
  std::size_t end_device(const ibv_context* device, const std::string& reason);

  /// Tells the initiator that the target is about to end; the session ends when it has
  /// acknowledged.
  void say_goodbye();

  /// Ends it, and tells the initiator why, unless it has ended.
  void expel(protocol::Status status, const std::string& reason);

  /// Ends it, without a word to the initiator, unless it has ended.
  void end(const std::string& reason) { finish(reason); }

  std::uint32_t id() const noexcept { return id_; }
  const SessionPeer& peer() const noexcept { return protocol_.peer(); }
  AttachmentRange attachments() const noexcept {
    return {first_attachment_of(id_), last_attachment_of(id_)};
  }
  /// Adds what it has.
  void count(Counts& counts) const;

  /// What an administrator sees of it.
  SessionStatus status() const;

  /// Whether it is known who it is with, and its initiator was let in.
  bool is_greeted() const noexcept { return greeted_; }

  std::chrono::steady_clock::time_point since() const noexcept { return since_; }
  bool is_over() const noexcept { return over_; }

 private:
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void on_message(const protocol::Message& message) override;
  bool takes_more() override;
  bool on_malformed() override;
  void on_broken(const std::string& reason) override;
  void on_violation(const std::string& reason) override;

  void poll();
  void perform(const Step& step);
  void attempt(const std::function<Step()>& step);
  void wait_for_lease(const LeaseWait& wait);
  void wait_for_registration(const RegistrationWait& wait);
  void answer_table(const TableQuestion& question);
  void answer_attach(std::uint64_t ticket, Step (SessionProtocol::*decide)(std::uint64_t));
  void greet();
  bool listen();
  void on_silence();
  void end_those(const Attachments::Ending& ending, const std::string& reason);
  void detach(std::uint64_t attachment, const std::optional<Outgoing>& reply);
  void end_attachments();
  bool send(const Outgoing& message);
  void start_deadline(std::chrono::milliseconds time, std::string reason);
  void on_deadline(const std::string& reason);
  void end_with(protocol::Status status, const std::string& reason);
  void linger(const std::string& reason);
  void finish(const std::string& reason);
  void log(spdlog::level::level_enum level, const std::string& what,
           std::string_view export_name = {});
  void log_end(const std::string& reason);

  std::uint32_t id_;
  std::shared_ptr<const TargetDevice> device_;  // stays as long as what is made with it
  const SessionEnvironment& environment_;
  SessionOwner& owner_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::string peer_;
  SessionProtocol protocol_;
  AttachWaits waits_;
  std::map<std::uint64_t, asio::steady_timer> registrations_;  ///< ATTACHes that wait for one
  AdminRate rate_;
  std::optional<std::string> last_word_;  // is on its way, and nothing else matters
  bool greeted_ = false;
  bool gone_ = false;  // the peer has disconnected
  bool over_ = false;

  protocol::MessageChannel channel_;  // outlives its queue pair
  std::unique_ptr<cm::Connection> connection_;
  std::optional<DescriptorWatch> watch_;
  asio::steady_timer deadline_;  ///< of the handshake, of the last word
  SilenceWatch silence_;
  asio::steady_timer breather_;  ///< until it takes messages again
  bool breathing_ = false;
  QueueTable queues_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
