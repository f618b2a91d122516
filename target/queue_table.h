#pragma once

#include <asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/cm/connection.h"
#include "common/lifetime.h"
#include "common/protocol/private_data.h"
#include "target/io_queue.h"
#include "target/session_environment.h"
#include "target/session_protocol.h"

namespace rdmablk::target {

/// Is told what a session ends with.
class QueueTableOwner {
 public:
  virtual ~QueueTableOwner() = default;

  /// The peer of an I/O queue broke the rules.
  virtual void on_violation(const std::string& reason) = 0;
};

/// The I/O queues of a session. Each has a place, which is taken until what came over the last
/// connection is through; one that comes meanwhile waits for that, a newer one instead of it.
class QueueTable final : private IoQueueOwner {
 public:
  /// @param session its number. @param protocol says who may connect. All outlive the table.
  QueueTable(std::uint32_t session, SessionProtocol& protocol,
             const SessionEnvironment& environment, QueueTableOwner& owner);
  ~QueueTable() override;
  QueueTable(const QueueTable&) = delete;
  QueueTable& operator=(const QueueTable&) = delete;

  /// Takes a request to connect a queue, and answers it, now or later.
  /// @return why it was refused; nothing when it was accepted or waits. Throws SystemError; the
  /// connection is the caller's to refuse then, unless it is gone.
  std::optional<protocol::QueueRefusal> connect(std::unique_ptr<cm::Connection>& connection,
                                                const protocol::QueueRequest& request);

  /// The device that a queue is connected over; null when it is not.
  ibv_context* device_of(std::uint64_t attachment, std::uint16_t queue) const noexcept;

  /// Closes those over a device that is gone. @return how many they were.
  std::size_t end_device(const ibv_context* device, const std::string& reason);

  /// Closes those of an attachment that has ended.
  void end(std::uint64_t attachment);
  void end_all();

  /// Those that are connected: of all attachments, of one.
  std::size_t connected() const noexcept;
  std::size_t connected(std::uint64_t attachment) const noexcept;

  Footprint footprint() const noexcept;

 private:
  using Key = std::pair<std::uint64_t, std::uint16_t>;

  /// A connection that waits for the one before.
  struct Successor {
    std::unique_ptr<cm::Connection> connection;
    const Attachment* attachment;
  };

  struct Place {
    Place(asio::io_context& io, SlotBudget::Share taken) : share(std::move(taken)), deadline(io) {}

    SlotBudget::Share share;         ///< of the queues that the client may have
    std::unique_ptr<IoQueue> queue;  ///< null while one is being closed, or registered for
    std::optional<Successor> next;   ///< then only
    bool closing = false;
    bool registering = false;     ///< the export, with the device that the next one came over
    asio::steady_timer deadline;  ///< to be established, or for what the next one waits for
    Lifetime lifetime;
  };

  void on_queue_over(IoQueue& queue, const std::string& reason) override;
  void on_queue_in_error(const std::string& line) override;
  void on_queue_violation(IoQueue& queue, const std::string& reason) override;

  void open(Place& place, std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
            std::uint16_t number);
  std::unique_ptr<IoQueue> make(std::unique_ptr<cm::Connection>& connection,
                                const Attachment& attachment, std::uint16_t number);
  QueueGround ground_for(const cm::Connection& connection, const Attachment& attachment) const;
  bool is_registered_with(const Attachment& attachment, const ibv_context* device) const;
  void register_for(const Key& key, Place& place);
  void on_registered(const Key& key, const std::optional<std::string>& failure);
  void close(const Key& key, Place& place);
  void on_closed(const Key& key);
  void open_next(const Key& key, Place& place);
  void start_deadline(const Key& key, Place& place);
  void on_deadline(const Key& key);
  void log(spdlog::level::level_enum level, const std::string& line);
  void refuse(Place& place, const protocol::QueueRefusal& refusal);

  std::uint32_t session_;
  SessionProtocol& protocol_;
  const SessionEnvironment& environment_;
  QueueTableOwner& owner_;
  std::map<Key, Place> places_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
