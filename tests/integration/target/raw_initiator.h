#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/protocol/message_channel.h"
#include "common/protocol/messages.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/registered_buffer.h"
#include "event_waiter.h"

namespace rdmablk::testing {

/// A message that came, with a payload of its own.
struct Received {
  protocol::Header header;
  std::vector<std::byte> payload;

  /// The payload of a refusal or an ERROR.
  std::string reason() const;
};

/// An admin queue that says what a test tells it to say, right or wrong.
class RawInitiator final : private cm::EventHandler, private protocol::MessageHandler {
 public:
  /// Connects, but says nothing. Throws Error.
  RawInitiator(EventWaiter& waiter, const SocketAddress& target);
  ~RawInitiator() override;
  RawInitiator(const RawInitiator&) = delete;
  RawInitiator& operator=(const RawInitiator&) = delete;

  ibv_context* device() const noexcept { return connection_->device(); }

  /// Sends a request and gives the message that comes next.
  template <typename Payload>
  Received request(protocol::MessageType type, const Payload& payload) {
    send({type, false, protocol::Status::ok, ++tag_}, payload);
    return receive();
  }

  template <typename Payload>
  void send(const protocol::Header& header, const Payload& payload) {
    if (!channel_->send(header, payload)) throw_unsent();
  }

  /// Sends bytes that need be no message.
  void send_bytes(std::span<const std::byte> bytes);

  /// Waits for the next message.
  Received receive();

  /// Waits until the target has disconnected.
  void wait_until_disconnected();

  // Requests of the usual kind; what does not succeed throws.
  /// Says HELLO. @param instance zero: a random one.
  protocol::HelloReply hello(const protocol::InstanceId& instance = {});
  protocol::AttachReply attach(const std::string& name, protocol::Access access,
                               std::uint16_t queues = 1, std::uint32_t flags = 0);

 private:
  [[noreturn]] static void throw_unsent();
  void set_up();
  void stop_watching();
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void on_message(const protocol::Message& message) override;
  void on_broken(const std::string& reason) override;

  EventWaiter& waiter_;
  std::optional<verbs::ProtectionDomain> pd_;
  std::optional<verbs::RegisteredBuffer> bytes_;
  std::optional<protocol::MessageChannel> channel_;
  std::unique_ptr<cm::Connection> connection_;
  std::deque<Received> received_;
  std::uint64_t tag_ = 100;
  bool established_ = false;
  bool disconnected_ = false;
  std::string failure_;
};

/// An ATTACH as usual clients ask for it.
protocol::Attach attach_request(const std::string& name, protocol::Access access,
                                std::uint16_t queues = 1);

}  // namespace rdmablk::testing
