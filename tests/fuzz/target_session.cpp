// The target's side of an admin queue: any conversation, with a target that asks for keys or does
// not, with requests to connect I/O queues and the target's own end between the messages.
#include <map>
#include <optional>
#include <vector>

#include "common/auth/queue_proof.h"
#include "target/session_protocol.h"
#include "tests/fuzz/exact_copy.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/known_clients.h"
#include "tests/fuzz/scripted_device.h"
#include "tests/fuzz/scripted_random.h"
#include "tests/fuzz/session_witness.h"
#include "tests/fuzz/target_world.h"

namespace rdmablk::fuzz {
namespace {

using protocol::MessageType;
using protocol::Status;

constexpr const char* kNear = "192.0.2.1:4711";
constexpr const char* kFar = "198.51.100.1:4711";

class Conversation {
 public:
  explicit Conversation(Input& input) : input_(input), setting_(input.number()) {}

  void run() {
    // A valid HELLO comes soon in most, and what it is answered with is answered.
    if ((setting_ & kGreets) != 0) say_hello();
    if ((setting_ & kProves) != 0) authenticate();
    while (!input_.empty()) step();
  }

 private:
  enum Setting : unsigned { kGreets = 1, kHasKeys = 2, kIsFar = 4, kProves = 8 };

  void step() {
    switch (input_.choice(15)) {
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
      case 10:
        return abandon();
      case 11:
        return authenticate();
      case 12:
        return say_again();
      case 13:
        return change_keys();
      default:
        return say_table();
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
    hello.features = protocol::Features::from_bits(versions >> 4U);
    hello.instance[0] = input_.array<std::array<std::byte, 1>>()[0];
    request(MessageType::hello, hello);
  }

  /// Right, unless the input wants it wrong.
  void authenticate() {
    protocol::Authenticate proof;
    proof.client = kClients[input_.choice(kClients.size())];
    const auth::Key key = key_of_number(input_.choice(kKeyOwners.size() + 1));
    proof.nonce[0] = input_.array<std::array<std::byte, 1>>()[0];
    const auto wrong = input_.number();
    auto hello = witness_.hello();
    if ((wrong & 1U) != 0) hello.clear();
    const auth::Handshake handshake(hello, witness_.hello_reply(), proof.client, proof.nonce);
    proof.proof = (wrong & 2U) != 0 ? handshake.target_proof(key) : handshake.client_proof(key);
    if ((wrong & 4U) != 0) proof.proof[input_.choice(32)] ^= std::byte{1};
    if ((wrong & 8U) != 0) proof.nonce[31] ^= std::byte{1};
    if ((wrong & 16U) != 0) proof.client = kClients[input_.choice(kClients.size())];
    request(MessageType::authenticate, proof);
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
    const auto& known = witness_.known();
    if ((again & 1U) != 0 && !known.empty()) {
      attach.generation = known.begin()->second.reply.generation;
      attach.lease = known.begin()->second.reply.lease;
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

  void say_table() {
    protocol::Table table;
    table.attachment = attachment();
    table.number = input_.number();
    table.queue = input_.number<std::uint16_t>();
    request(MessageType::table, table);
  }

  /// The last message once more, as somebody on the way may send it.
  void say_again() {
    if (last_) feed(last_->header, std::vector(last_->payload));
  }

  /// One that exists, if any does, unless the input wants another.
  std::uint64_t attachment() {
    const auto which = input_.number();
    const auto& known = witness_.known();
    if (known.empty() || which == 0xff) return input_.number<std::uint64_t>();
    return std::next(known.begin(), static_cast<std::ptrdiff_t>(which % known.size()))->first;
  }

  void connect() {
    protocol::QueueRequest request;
    request.attachment = attachment();
    request.queue = input_.number<std::uint16_t>();
    const auto known = witness_.known().find(request.attachment);
    const bool exists = known != witness_.known().end();
    if (exists) {
      request.epoch = known->second.reply.epoch;
      request.nonce = known->second.reply.nonce;
      request.proof = known->second.reply.token;
    }
    const auto wrong = input_.number();
    if ((wrong & 1U) != 0) request.epoch += input_.number();
    if ((wrong & 2U) != 0) request.nonce[0] ^= std::byte{1};
    const auto& key = witness_.session_key();
    const bool shows_token = (wrong & 8U) != 0;
    if (key && !shows_token) request.proof = auth::queue_proof(*key, request);
    if ((wrong & 4U) != 0) request.proof[31] ^= std::byte{1};
    const char* const from = (wrong & 16U) != 0 ? kFar : kNear;
    const auto verdict = protocol_.admit(request, from);
    const auto* const refusal = std::get_if<protocol::QueueRefusal>(&verdict);
    if (refusal != nullptr) return witness_.on_refused(*refusal);
    witness_.on_admitted(request, (wrong & 6U) == 0 && !(key && shows_token), from);
  }

  /// Nothing is left of the session that this one resumes, or something is for too long.
  void join() {
    if (!joining_ || witness_.is_over()) return;
    const protocol::Header header = *joining_;
    joining_.reset();
    take(header, input_.number() == 0xff ? protocol_.refuse_join(Status::busy, "for a trial")
                                         : protocol_.join());
  }

  /// An ATTACH that waits is tried again, or has waited long enough.
  void end_wait() {
    const bool gives_up = input_.flag();
    if (waits_.empty() || witness_.is_over()) return;
    const auto [ticket, header] = *waits_.begin();
    const auto step = gives_up ? protocol_.give_up_attach(ticket) : protocol_.retry_attach(ticket);
    if (step.send) waits_.erase(ticket);
    require(!gives_up || !waits_.contains(ticket), "what is given up is answered");
    take(header, step);
  }

  void leave() {
    if (const auto notice = protocol_.say_goodbye()) witness_.on_farewell(*notice);
  }

  void abandon() {
    if (!witness_.is_over()) {
      witness_.on_abandoned(protocol_.abandon(Status::internal, "for a trial"));
    }
  }

  /// The key file was read again; the input says which keys are in it.
  void change_keys() { keys_ = some_keys(input_.number()); }

  static target::ClientKeys some_keys(unsigned which) {
    std::vector<auth::NamedKey> keys;
    for (unsigned i = 0; i < kKeyOwners.size(); ++i) {
      if ((which >> i & 1U) != 0) keys.push_back({kClients[kKeyOwners[i]], key_of_number(i)});
    }
    return {keys, "keys"};
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
    witness_.on_message(header, copy.bytes());
    take(header, protocol_.handle({header, copy.bytes()}));
    last_ = Sent{header, {copy.bytes().begin(), copy.bytes().end()}};
  }

  /// Over the device of the exports, or over none.
  void answer_table(const protocol::Header& header, const target::TableQuestion& question) {
    const auto answer =
        protocol_.answer_table(question, input_.flag() ? scripted_context() : nullptr);
    require(answer.send && !answer.over, "a question for a table is answered");
    take(header, answer);
  }

  void take(const protocol::Header& header, const target::Step& step) {
    if (step.asks) return answer_table(header, *step.asks);
    require(!step.registers, "all is registered");
    if (step.fences) {
      require(protocol_.end_attachment(*step.fences), "who is fenced was attached");
    }
    witness_.on_step(header, step);
    if (step.waits) {
      require(waits_.emplace(step.waits->ticket, header).second, "tickets differ");
    }
    if (step.joins) {
      joining_ = header;
      if (!input_.flag()) join();
    }
  }

  struct Sent {
    protocol::Header header;
    std::vector<std::byte> payload;
  };

  Input& input_;
  unsigned setting_;
  const char* address_ = (setting_ & kIsFar) != 0 ? kFar : kNear;
  target::ClientKeys keys_ = some_keys(0xff);
  const target::ClientKeys* asked_for_ = (setting_ & kHasKeys) != 0 ? &keys_ : nullptr;
  target::SessionProtocol protocol_{
      5,       {},        TargetWorld::get().catalog(), TargetWorld::get().limits(), address_,
      nullptr, asked_for_};
  SessionWitness witness_{asked_for_, address_};
  std::optional<protocol::Header> joining_;          ///< the request that is answered then
  std::map<std::uint64_t, protocol::Header> waits_;  ///< by ticket
  std::optional<Sent> last_;
  std::uint64_t tag_ = 100;
};

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::restart_random();
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::Conversation(input).run();
  return 0;
}
