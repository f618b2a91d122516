#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/cm/connection.h"
#include "common/protocol/io_messages.h"
#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/registered_buffer.h"
#include "event_waiter.h"
#include "raw_initiator.h"

namespace rdmablk::testing {

/// The request for an I/O queue that an attachment is entitled to.
protocol::QueueRequest queue_request(const protocol::AttachReply& attachment,
                                     std::uint16_t queue = 0);

/// A request of a RawQueue.
struct Command {
  protocol::MessageType type{};
  std::uint64_t tag = 0;
  std::vector<std::byte> payload;
  bool is_reply = false;
};

/// A request as it should be. @param ranges of a FLUSH, whose count they set.
Command command(protocol::MessageType type, std::uint64_t tag, protocol::IoRequest request,
                std::initializer_list<protocol::Range> ranges = {});

/// An I/O queue that reads, writes and sends what it is told, whether it may or not.
class RawQueue final : private cm::EventHandler {
 public:
  static constexpr std::size_t kBuffer = 1 << 16;
  static constexpr unsigned kMessages = 32;  ///< sent in one go

  /// Asks for the connection; refusal() answers. Throws Error when there is no answer.
  /// @param private_data at most cm::kMaxPrivateData bytes.
  RawQueue(EventWaiter& waiter, const SocketAddress& target,
           std::span<const std::byte> private_data);
  ~RawQueue() override;
  RawQueue(const RawQueue&) = delete;
  RawQueue& operator=(const RawQueue&) = delete;

  bool connected() const noexcept { return established_ && !disconnected_; }

  /// Why the target refused; nothing when it did not.
  const std::optional<protocol::QueueRefusal>& refusal() const noexcept { return refusal_; }

  bool is_iwarp() const noexcept;

  /// The bytes that are written, or were read.
  std::span<std::byte> buffer() const noexcept { return buffer_->piece(0, kBuffer); }

  /// READs `size` bytes to the start of the buffer.
  ibv_wc_status read(std::uint64_t address, std::uint32_t rkey, std::size_t size);

  /// WRITEs `size` bytes from the start of the buffer; acknowledged as the transport does it.
  ibv_wc_status write(std::uint64_t address, std::uint32_t rkey, std::size_t size);

  /// Sends messages, kMessages at most, in one go. @return whether the target's device took all.
  bool send(std::span<const Command> commands);

  /// The message that comes next; nothing when the target ends the queue.
  std::optional<Received> receive();

  /// SENDs the first `size` bytes of the buffer, which need be no message.
  ibv_wc_status send_bytes(std::size_t size);

  /// Has an immediate value take a receive of the target. Not on iWARP.
  ibv_wc_status send_immediate();

  /// Sends a request and gives the message that comes next; nothing when the target ends the queue.
  /// @param payload less than a message.
  std::optional<Received> request(protocol::MessageType type, std::uint64_t tag,
                                  std::span<const std::byte> payload);

  /// READs the chunk table of an attachment. Throws Error when that fails.
  std::vector<protocol::ChunkEntry> read_table(const protocol::ChunkTable& table);

  void wait_until_disconnected();

  /// From now on `pause` is called when something was posted, before anything is looked at.
  void pause_after_posting(std::function<void()> pause) { pause_ = std::move(pause); }

 private:
  void set_up();
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void post_receive(unsigned number);
  void poll();
  ibv_wc_status post(ibv_send_wr& list, std::size_t count = 1);
  ibv_wc_status perform(ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t rkey,
                        std::size_t size);

  EventWaiter& waiter_;
  std::vector<std::byte> private_data_;
  std::optional<verbs::ProtectionDomain> pd_;
  std::optional<verbs::RegisteredBuffer> buffer_;
  std::optional<verbs::RegisteredBuffer> messages_;  // those that are sent, those that come
  std::optional<verbs::CompletionChannel> events_;
  std::optional<verbs::CompletionQueue> cq_;
  std::unique_ptr<cm::Connection> connection_;
  std::vector<ibv_wc> sent_;
  std::deque<ibv_wc> received_;
  std::function<void()> pause_;
  std::optional<protocol::QueueRefusal> refusal_;
  bool established_ = false;
  bool disconnected_ = false;
  bool failed_ = false;
};

}  // namespace rdmablk::testing
