// The target's side of an admin queue: any conversation, with requests to connect I/O queues and
// the target's own end between the messages.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <optional>
#include <vector>

#include "target/session_protocol.h"
#include "tests/fuzz/exact_copy.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target_world.h"

namespace rdmablk::fuzz {
namespace {

using protocol::Message;
using protocol::MessageType;
using protocol::Status;

const TargetWorld& world() {
  static const TargetWorld made;
  return made;
}

constexpr const char* kAddress = "192.0.2.1:4711";

/// What an initiator knows of an attachment.
struct Known {
  protocol::AttachReply reply;
  std::map<std::uint16_t, protocol::QueueRequest> queues;  ///< the last that was admitted of each
};

class Conversation {
 public:
  explicit Conversation(Input& input) : input_(input) {}

  void run() {
    // A valid HELLO comes soon in most.
    if (input_.flag()) say_hello();
    while (!input_.empty()) step();
  }

 private:
  void step() {
    switch (input_.choice(11)) {
      case 0:
        return say_anything();
      case 1:
        return say_hello();
      case 2:
        return say_list();
      case 3:
        return say_attach();
      case 4:
        return say_detach();
      case 5:
      case 6:
        return connect();
      case 7:
        return leave();
      case 8:
        return end_wait();
      case 9:
        return join();
      default:
        return abandon();
    }
  }

  void say_anything() {
    protocol::Header header;
    header.type = static_cast<MessageType>(input_.number<std::uint16_t>());
    header.is_reply = input_.flag();
    header.status = static_cast<Status>(input_.number());
    header.tag = input_.number();
    feed(header, input_.block());
  }

  void say_hello() {
    protocol::Hello hello;
    const auto versions = input_.number();
    hello.version_min = versions & 3U;
    hello.version_max = static_cast<std::uint16_t>(hello.version_min + (versions >> 2U) % 4);
    hello.instance[0] = input_.array<std::array<std::byte, 1>>()[0];
    request(MessageType::hello, hello);
  }

  void say_list() {
    protocol::List list;
    const auto after = input_.choice(TargetWorld::kNames.size() + 1);
    if (after < TargetWorld::kNames.size()) list.after = TargetWorld::kNames[after];
    request(MessageType::list, list);
  }

  void say_attach() {
    protocol::Attach attach;
    const auto name = input_.choice(TargetWorld::kNames.size() + 1);
    attach.name = name < TargetWorld::kNames.size() ? TargetWorld::kNames[name] : "absent";
    attach.access = input_.flag() ? protocol::Access::read_write : protocol::Access::read_only;
    attach.queues = input_.number<std::uint16_t>();
    attach.depth = input_.number<std::uint32_t>();
    attach.max_io = input_.number<std::uint32_t>();
    const auto again = input_.number();  // what it was attached to before
    if ((again & 1U) != 0 && !known_.empty()) {
      attach.generation = known_.begin()->second.reply.generation;
      attach.lease = known_.begin()->second.reply.lease;
    }
    if ((again & 2U) != 0) attach.generation[0] ^= std::byte{1};
    if ((again & 4U) != 0) ++attach.lease;
    if ((again & 8U) != 0) attach.flags = input_.number();
    request(MessageType::attach, attach);
  }

  void say_detach() {
    protocol::Detach detach;
    detach.attachment = attachment();
    request(MessageType::detach, detach);
  }

  /// One that exists, if any does, unless the input wants another.
  std::uint64_t attachment() {
    const auto which = input_.number();
    if (known_.empty() || which == 0xff) return input_.number<std::uint64_t>();
    return std::next(known_.begin(), static_cast<std::ptrdiff_t>(which % known_.size()))->first;
  }

  void connect() {
    protocol::QueueRequest request;
    request.attachment = attachment();
    request.queue = input_.number<std::uint16_t>();
    const auto known = known_.find(request.attachment);
    if (known != known_.end()) {
      request.epoch = known->second.reply.epoch;
      request.nonce = known->second.reply.nonce;
      request.proof = known->second.reply.token;
    }
    const auto wrong = input_.number();
    if ((wrong & 1U) != 0) request.epoch += input_.number();
    if ((wrong & 2U) != 0) request.nonce[0] ^= std::byte{1};
    if ((wrong & 4U) != 0) request.proof[31] ^= std::byte{1};
    const auto verdict = protocol_.admit(request, kAddress);
    const auto* const refusal = std::get_if<protocol::QueueRefusal>(&verdict);
    if (refusal != nullptr) {
      require(refusal->status != Status::ok && !refusal->text.empty(), "a refusal says why");
      return;
    }
    require(!over_ && !leaving_, "a session that ends takes no queue");
    require(known != known_.end() && (wrong & 6U) == 0, "a queue proves its attachment");
    require(request.queue < known->second.reply.queues, "no more queues than were granted");
    auto& queues = known->second.queues;
    const auto before = queues.find(request.queue);
    require(before == queues.end() || before->second.epoch < request.epoch, "epochs ascend");
    queues[request.queue] = request;
  }

  /// Nothing is left of the session that this one resumes, or something is for too long.
  void join() {
    if (!joining_ || over_) return;
    const protocol::Header header = *joining_;
    joining_.reset();
    check(header, input_.number() == 0xff ? protocol_.refuse_join(Status::busy, "for a trial")
                                          : protocol_.join());
  }

  /// An ATTACH that waits is tried again, or has waited long enough.
  void end_wait() {
    const bool gives_up = input_.flag();
    if (waits_.empty() || over_) return;
    const auto [ticket, header] = *waits_.begin();
    const auto step = gives_up ? protocol_.give_up_attach(ticket) : protocol_.retry_attach(ticket);
    if (step.send) waits_.erase(ticket);
    require(!gives_up || !waits_.contains(ticket), "what is given up is answered");
    check(header, step);
  }

  void leave() {
    const auto notice = protocol_.say_goodbye();
    if (!notice) return;
    require(!over_ && !leaving_ && greeted_, "a peer of a session is told once that it ends");
    leaving_ = true;
    check_size(*notice);
  }

  void abandon() {
    if (over_) return;
    check_size(protocol_.abandon(Status::internal, "for a trial"));
    over_ = true;
  }

  template <typename Payload>
  void request(MessageType type, const Payload& payload) {
    std::vector<std::byte> bytes(protocol::kMaxMessage);
    protocol::WireWriter writer(bytes);
    payload.encode(writer);
    feed({type, false, Status::ok, ++tag_}, std::span(bytes).first(writer.size()));
  }

  void feed(const protocol::Header& header, std::span<const std::byte> payload) {
    const ExactCopy copy(
        payload.first(std::min(payload.size(), protocol::kMaxMessage - protocol::kHeaderSize)));
    check(header, protocol_.handle({header, copy.bytes()}));
  }

  void check(const protocol::Header& header, const target::Step& step) {
    if (over_) {
      require(!step.send && !step.attached && !step.detached && !step.greeted && !step.over,
              "nothing is said after the end");
      return;
    }
    if (step.greeted) {
      require(!greeted_ && header.type == MessageType::hello, "one HELLO is accepted");
      greeted_ = true;
    }
    if (step.joins) {
      joining_ = header;
      if (!input_.flag()) join();
    }
    if (step.waits) {
      require(waits_.emplace(step.waits->ticket, header).second, "tickets differ");
    }
    if (step.fences) {
      require(protocol_.end_attachment(*step.fences), "who is fenced was attached");
      known_.erase(*step.fences);
    }
    if (step.detached) {
      require(known_.erase(*step.detached) == 1, "what is detached was attached");
    }
    if (step.attached != nullptr) check_attached(*step.attached);
    if (step.send) check_sent(header, *step.send);
    if (step.over) over_ = true;
  }

  void check_attached(const target::Attachment& made) {
    const auto& reply = made.reply();
    require(greeted_ && !leaving_, "nothing is attached before HELLO, or at the end");
    for (const auto& [id, other] : known_) {
      require(
          reply.lease == 0 || other.reply.lease == 0 || other.reply.info.name != reply.info.name,
          "an export has one writer");
    }
    require(known_.emplace(made.id(), Known{reply, {}}).second, "attachments differ");
    require(known_.size() <= world().limits().attachments, "attachments are limited");
    require(reply.queues > 0 && reply.queues <= world().limits().queues, "queues are limited");
    require(reply.depth > 0 && reply.depth <= world().limits().depth, "depth is limited");
    require(reply.max_io > 0 && reply.max_io <= world().limits().max_io, "requests are limited");
    require(reply.access == protocol::Access::read_only || !reply.info.read_only,
            "nobody writes to a read-only export");
    require(world().budget().used() <= world().budget().limit(), "memory for slots is limited");
  }

  void check_sent(const protocol::Header& header, const target::Outgoing& sent) {
    check_size(sent);
    if (sent.header.type == MessageType::error) return;
    require(
        sent.header.is_reply && sent.header.type == header.type && sent.header.tag == header.tag,
        "what is sent answers what came");
    require(
        sent.header.status == Status::ok || std::holds_alternative<protocol::Reason>(sent.payload),
        "a refusal says why");
    require(greeted_ || header.type == MessageType::hello, "nobody is answered before HELLO");
  }

  static void check_size(const target::Outgoing& sent) {
    std::vector<std::byte> buffer(protocol::kMaxMessage - protocol::kHeaderSize);
    protocol::WireWriter writer(buffer);
    sent.encode(writer);
    require(writer.ok(), "a message fits");
  }

  Input& input_;
  target::SessionProtocol protocol_{5, {}, world().catalog(), world().limits(), kAddress};
  std::map<std::uint64_t, Known> known_;
  std::optional<protocol::Header> joining_;          ///< the request that is answered then
  std::map<std::uint64_t, protocol::Header> waits_;  ///< by ticket
  std::uint64_t tag_ = 100;
  bool greeted_ = false;
  bool leaving_ = false;
  bool over_ = false;
};

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  spdlog::set_level(spdlog::level::off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::Conversation(input).run();
  return 0;
}
