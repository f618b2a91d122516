// The initiator against any target: it connects, says HELLO, has the target prove itself, lists,
// attaches and makes an I/O queue. Whatever comes back, each step succeeds or fails with an Error,
// and none hangs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "common/error.h"
#include "common/protocol/io_messages.h"
#include "common/units.h"
#include "initiator/image.h"
#include "initiator/queue.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/fuzz/greeting_witness.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/known_clients.h"
#include "tests/fuzz/scripted_manager.h"
#include "tests/fuzz/scripted_random.h"

namespace rdmablk::fuzz {
namespace {

using protocol::Header;
using protocol::MessageType;
using protocol::Status;

constexpr std::uint64_t kSize = std::uint64_t{1} << 20;

/// A target that says what the input says, and leaves when there is no more.
class ScriptedTarget final : public ConnectionScript {
 public:
  ScriptedTarget(Input& input, bool has_key) : input_(input), has_key_(has_key), witness_(has_key) {
    ScriptedManager::use(this);
  }
  ~ScriptedTarget() { ScriptedManager::use(nullptr); }

  cm::Event on_open() override {
    cm::Event event{cm::EventType::resolved};
    if (input_.number() == 0xff) event = {cm::EventType::failed, ENODEV};
    return event;
  }

  const GreetingWitness& witness() const noexcept { return witness_; }

  cm::Event on_connect(ManagedConnection& connection,
                       std::span<const std::byte> private_data) override {
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
      witness_.on_sent(*message);
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
  protocol::Authentication authentication() {
    const auto wish = input_.number();
    const bool asks = has_key_ != ((wish & 1U) != 0);
    if ((wish & 2U) != 0) return static_cast<protocol::Authentication>(wish);
    return asks ? protocol::Authentication::pre_shared_key : protocol::Authentication::none;
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
    witness_.on_delivered(message);
    if (!connection.scripted_queue_pair().deliver(message)) leave();
  }

  Input& input_;
  bool has_key_;
  GreetingWitness witness_;
  std::set<ManagedConnection*> connections_;
};

/// The first client's. Its file is gone when it would be read again, and the key stays.
const initiator::Credentials& credentials() {
  static const initiator::Credentials made = [] {
    std::string path = std::filesystem::temp_directory_path() / "rdmablk-fuzz-XXXXXX";
    const UniqueFd file(::mkstemp(path.data()));
    const std::string line = fmt::format("{} {}", kClients[0], key_of_number(0).text().view());
    require(::write(file.get(), line.data(), line.size()) > 0, "there is a key file");
    initiator::Credentials read(path);
    ::unlink(path.c_str());
    return read;
  }();
  return made;
}

/// What the initiator is asked to do.
struct Wishes {
  explicit Wishes(Input& input) : reads(input.flag()), lists(input.flag()), has_key(input.flag()) {}

  bool reads;
  bool lists;
  bool has_key;
};

/// Of answers that have not come by then, none will.
initiator::SessionOptions session_options(const Wishes& wishes) {
  initiator::SessionOptions options;
  options.timeout = std::chrono::milliseconds(100);
  if (wishes.has_key) options.credentials = credentials();
  return options;
}

void use_target(const Wishes& wishes, const ScriptedTarget& target) {
  initiator::AttachOptions options;
  options.access = wishes.reads ? protocol::Access::read_only : protocol::Access::read_write;
  options.depth = 4;
  options.max_io = 1U << 17U;
  const auto session = initiator::Session::connect({"127.0.0.1", 10812}, session_options(wishes));
  target.witness().on_open();
  if (wishes.lists) session->list();
  const auto image = session->attach("disk", options);
  const auto info = image->info();
  require(info.size > 0 && info.size % kSectorSize == 0, "an image is of whole sectors");
  const auto queue = image->make_queue(options.depth);
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::restart_random();
  rdmablk::fuzz::Input input(data, size);
  const rdmablk::fuzz::Wishes wishes(input);
  rdmablk::fuzz::ScriptedTarget target(input, wishes.has_key);
  try {
    rdmablk::fuzz::use_target(wishes, target);
  } catch (const rdmablk::Error&) {  // and nothing else
  }
  return 0;
}
