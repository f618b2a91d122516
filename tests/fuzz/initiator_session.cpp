// The initiator against any target: it connects, says HELLO, lists, attaches and makes an I/O
// queue. Whatever comes back, each step succeeds or fails with an Error, and none hangs.
#include <spdlog/spdlog.h>

#include <set>

#include "common/error.h"
#include "common/protocol/io_messages.h"
#include "common/units.h"
#include "initiator/image.h"
#include "initiator/queue.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scripted_manager.h"

namespace rdmablk::fuzz {
namespace {

using protocol::Header;
using protocol::MessageType;
using protocol::Status;

constexpr std::uint64_t kSize = std::uint64_t{1} << 20;

/// A target that says what the input says, and leaves when there is no more.
class ScriptedTarget final : public ConnectionScript {
 public:
  explicit ScriptedTarget(Input& input) : input_(input) { ScriptedManager::use(this); }
  ~ScriptedTarget() { ScriptedManager::use(nullptr); }

  cm::Event on_open() override {
    cm::Event event{cm::EventType::resolved};
    if (input_.number() == 0xff) event = {cm::EventType::failed, ENODEV};
    return event;
  }

  cm::Event on_connect(ManagedConnection& connection) override {
    connections_.insert(&connection);
    connection.scripted_queue_pair().on_sent([this, &connection] { on_sent(connection); });
    switch (input_.number()) {
      case 0xff:
        return {cm::EventType::rejected, 0, cm::Refusal::by_peer, input_.bytes(cm::kMaxRejectData)};
      case 0xfe:
        return {cm::EventType::failed, ETIMEDOUT};
      case 0xfd:
        return {cm::EventType::device_removed};
      case 0xfc:
        return {cm::EventType::rejected, 0, cm::Refusal::stale};
      default:
        return {cm::EventType::established};
    }
  }

  void on_destroyed(ManagedConnection& connection) override { connections_.erase(&connection); }

 private:
  void on_sent(ManagedConnection& connection) {
    ScriptedQueuePair& qp = connection.scripted_queue_pair();
    for (const auto into : qp.take_reads()) {
      std::ranges::copy(input_.bytes(into.size()), into.begin());
      qp.complete_send();
    }
    for (const auto& bytes : qp.take_sent()) {
      const auto message = protocol::decode_message(bytes);
      require(message.has_value(), "what the initiator sends is a message");
      if (input_.number() != 0xff) qp.complete_send();
      if (!message->header.is_reply) answer(connection, message->header);
    }
    if (input_.empty()) leave();
  }

  /// Nobody waits for what does not come.
  void leave() {
    for (ManagedConnection* connection : connections_) {
      connection->scripted_queue_pair().flush();
      connection->tell({cm::EventType::disconnected});
    }
  }

  void answer(ManagedConnection& connection, const Header& asked) {
    Header reply{asked.type, true, Status::ok, asked.tag};
    while (!input_.empty()) {
      switch (input_.choice(9)) {
        case 0:
          return deliver(connection, reply, input_.block());
        case 1:
          reply.status = static_cast<Status>(input_.number());
          return deliver(connection, reply, input_.bytes(input_.number()));
        case 2:
          deliver_raw(connection, input_.block());
          break;
        case 3:
          deliver(connection, {MessageType::event, false, Status::ok, input_.number()},
                  input_.block());
          break;
        case 4:
          deliver(connection, {MessageType::keepalive, false, Status::ok, input_.number()}, {});
          break;
        case 5:
          return deliver(connection, {MessageType::error, false, Status::malformed, 0},
                         input_.bytes(input_.number()));
        case 6:
          reply.tag += 1 + input_.choice(3);
          deliver(connection, reply, input_.block());
          reply.tag = asked.tag;
          break;
        default:
          return answer_well(connection, reply);
      }
    }
  }

  /// As a target answers, but for what the input changes.
  void answer_well(ManagedConnection& connection, const Header& reply) {
    switch (reply.type) {
      case MessageType::hello: {
        protocol::HelloReply hello;
        hello.version = protocol::kVersion;
        hello.credits = protocol::kAdminCredits;
        hello.session = 5;
        hello.max_message = protocol::kMaxMessage;
        return encode(connection, reply, hello);
      }
      case MessageType::list: {
        protocol::ListReply list;
        list.exports.resize(1 + input_.choice(3));
        list.exports.assign(list.exports.size(), info());
        list.more = input_.flag();
        return encode(connection, reply, list);
      }
      case MessageType::attach:
        return encode(connection, reply, attached());
      case MessageType::queue: {
        protocol::QueueReply queue{0x10000, 7, 4, 1U << 17U, 1U << 17U, 1};
        if (input_.flag()) queue.commands = input_.number<std::uint32_t>();
        if (input_.flag()) queue.stride = input_.number<std::uint32_t>();
        if (input_.flag()) queue.max_io = input_.number<std::uint32_t>();
        return encode(connection, reply, queue);
      }
      default:
        return deliver(connection, reply, {});
    }
  }

  protocol::ExportInfo info() {
    protocol::ExportInfo info;
    info.name = "disk";
    info.kind = static_cast<protocol::ExportKind>(1 + input_.choice(3));
    info.block_size = 4096;
    info.size = input_.flag() ? kSize : input_.number<std::uint64_t>();
    info.read_only = input_.flag();
    return info;
  }

  protocol::AttachReply attached() {
    protocol::AttachReply reply;
    reply.info = info();
    reply.attachment = 0x500000001;
    reply.access = input_.flag() ? protocol::Access::read_only : protocol::Access::read_write;
    reply.queues = 2;
    reply.depth = input_.flag() ? 8 : input_.number<std::uint32_t>();
    reply.max_io = input_.flag() ? 1U << 17U : input_.number<std::uint32_t>();
    reply.epoch = 1;
    reply.table = {0x20000, 9, 1, kSize, 1};
    if (input_.flag()) reply.table.count = input_.number<std::uint32_t>();
    if (input_.flag()) reply.table.chunk_size = std::uint64_t{1} << input_.choice(64);
    reply.origin = "disk.img";
    return reply;
  }

  template <typename Payload>
  void encode(ManagedConnection& connection, const Header& header, const Payload& payload) {
    std::vector<std::byte> bytes(protocol::kMaxMessage - protocol::kHeaderSize);
    protocol::WireWriter writer(bytes);
    payload.encode(writer);
    deliver(connection, header, std::span(bytes).first(writer.size()));
  }

  void deliver(ManagedConnection& connection, const Header& header,
               std::span<const std::byte> payload) {
    payload =
        payload.first(std::min(payload.size(), protocol::kMaxMessage - protocol::kHeaderSize));
    std::vector<std::byte> message(protocol::kHeaderSize + payload.size());
    std::ranges::copy(payload, message.begin() + protocol::kHeaderSize);
    protocol::finish_message(message, header, payload.size());
    deliver_raw(connection, message);
  }

  /// A target that sends more than there are receives for is a broken connection.
  void deliver_raw(ManagedConnection& connection, std::span<const std::byte> message) {
    if (!connection.scripted_queue_pair().deliver(message)) leave();
  }

  Input& input_;
  std::set<ManagedConnection*> connections_;
};

initiator::AttachOptions options_of(Input& input) {
  initiator::AttachOptions options;
  options.access = input.flag() ? protocol::Access::read_only : protocol::Access::read_write;
  options.depth = 4;
  options.max_io = 1U << 17U;
  return options;
}

/// Of answers that have not come by then, none will.
initiator::SessionOptions session_options() {
  initiator::SessionOptions options;
  options.timeout = std::chrono::milliseconds(100);
  return options;
}

void use_target(Input& input) {
  const auto options = options_of(input);
  const bool lists = input.flag();
  const auto session = initiator::Session::connect({"127.0.0.1", 10812}, session_options());
  if (lists) session->list();
  const auto image = session->attach("disk", options);
  const auto info = image->info();
  require(info.size > 0 && info.size % kSectorSize == 0, "an image is of whole sectors");
  const auto queue = image->make_queue(options.depth);
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  spdlog::set_level(spdlog::level::off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::ScriptedTarget target(input);
  try {
    rdmablk::fuzz::use_target(input);
  } catch (const rdmablk::Error&) {  // and nothing else
  }
  return 0;
}
