#include "tests/fuzz/scripted_target.h"

#include <algorithm>
#include <cerrno>

#include "common/protocol/io_messages.h"

namespace rdmablk::fuzz {

using protocol::MessageType;
using protocol::Status;

namespace {

constexpr std::uint64_t kSize = std::uint64_t{1} << 20;

}  // namespace

cm::Event ScriptedTarget::on_open() {
  cm::Event event{cm::EventType::resolved};
  if (input_.number() == 0xff) event = {cm::EventType::failed, ENODEV};
  return event;
}

cm::Event ScriptedTarget::on_connect(ManagedConnection& connection,
                                     std::span<const std::byte> private_data) {
  witness_.on_connect(private_data);
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

void ScriptedTarget::on_sent(ManagedConnection& connection) {
  ScriptedQueuePair& qp = connection.scripted_queue_pair();
  for (const auto into : qp.take_reads()) {
    std::ranges::copy(input_.bytes(into.size()), into.begin());
    qp.complete_send();
  }
  for (const auto& bytes : qp.take_sent()) {
    const auto message = protocol::decode_message(bytes);
    require(message.has_value(), "what the initiator sends is a message");
    witness_.on_sent(*message);
    if (input_.number() != 0xff) qp.complete_send();
    if (!message->header.is_reply) answer(connection, message->header);
  }
  if (input_.empty()) leave();
}

/// Nobody waits for what does not come.
void ScriptedTarget::leave() {
  for (ManagedConnection* connection : connections_) {
    connection->scripted_queue_pair().flush();
    connection->tell({cm::EventType::disconnected});
  }
}

void ScriptedTarget::answer(ManagedConnection& connection, const Header& asked) {
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
void ScriptedTarget::answer_well(ManagedConnection& connection, const Header& reply) {
  switch (reply.type) {
    case MessageType::hello: {
      protocol::HelloReply hello;
      hello.version = protocol::kVersion;
      hello.credits = protocol::kAdminCredits;
      hello.session = 5;
      hello.max_message = protocol::kMaxMessage;
      hello.authentication = authentication();
      return encode(connection, reply, hello);
    }
    case MessageType::authenticate:
      return encode(connection, reply, witness_.proof(input_.number()));
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

/// What suits the initiator, unless the input wants something else.
protocol::Authentication ScriptedTarget::authentication() {
  const auto wish = input_.number();
  const bool asks = has_key_ != ((wish & 1U) != 0);
  if ((wish & 2U) != 0) return static_cast<protocol::Authentication>(wish);
  return asks ? protocol::Authentication::pre_shared_key : protocol::Authentication::none;
}

protocol::ExportInfo ScriptedTarget::info() {
  protocol::ExportInfo info;
  info.name = "disk";
  info.kind = static_cast<protocol::ExportKind>(1 + input_.choice(3));
  info.block_size = 4096;
  info.size = input_.flag() ? kSize : input_.number<std::uint64_t>();
  info.read_only = input_.flag();
  return info;
}

protocol::AttachReply ScriptedTarget::attached() {
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
void ScriptedTarget::encode(ManagedConnection& connection, const Header& header,
                            const Payload& payload) {
  std::vector<std::byte> bytes(protocol::kMaxMessage - protocol::kHeaderSize);
  protocol::WireWriter writer(bytes);
  payload.encode(writer);
  deliver(connection, header, std::span(bytes).first(writer.size()));
}

void ScriptedTarget::deliver(ManagedConnection& connection, const Header& header,
                             std::span<const std::byte> payload) {
  payload = payload.first(std::min(payload.size(), protocol::kMaxMessage - protocol::kHeaderSize));
  std::vector<std::byte> message(protocol::kHeaderSize + payload.size());
  std::ranges::copy(payload, message.begin() + protocol::kHeaderSize);
  protocol::finish_message(message, header, payload.size());
  deliver_raw(connection, message);
}

/// A target that sends more than there are receives for is a broken connection.
void ScriptedTarget::deliver_raw(ManagedConnection& connection,
                                 std::span<const std::byte> message) {
  witness_.on_delivered(message);
  if (!connection.scripted_queue_pair().deliver(message)) leave();
}

}  // namespace rdmablk::fuzz
