// The target's end of I/O queues of file and resident exports, with its threads and files: any
// messages of a peer. What was answered with success is checked against the file.
#include <unistd.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "target/file_queue.h"
#include "target/resident_queue.h"
#include "target/session_protocol.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scripted_connection.h"
#include "tests/fuzz/target_world.h"

namespace rdmablk::fuzz {
namespace {

using protocol::IoRequest;
using protocol::MessageType;
using protocol::Range;
using protocol::Status;

/// What lasts from input to input.
struct Target {
  TargetWorld world;
  asio::io_context io{1};
  target::Counters counters;
  std::vector<int> files = world.files();
  target::IoThread thread{0, files};
  target::IoThread blocking{1, {}};
};

Target& the_target() {
  static Target made;
  return made;
}

/// An attachment, made as an initiator makes it.
class Attached {
 public:
  Attached(const char* name, protocol::Access access) {
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    if (feed(MessageType::hello, hello).joins) protocol_.join();
    protocol::Attach attach;
    attach.name = name;
    attach.access = access;
    attach.queues = 1;
    attach.depth = 4;
    attach.max_io = 8192;
    attachment_ = feed(MessageType::attach, attach).attached;
    require(attachment_ != nullptr, "an export can be attached");
  }

  const target::Attachment& get() const noexcept { return *attachment_; }

 private:
  template <typename Payload>
  target::Step feed(MessageType type, const Payload& payload) {
    std::vector<std::byte> bytes(protocol::kMaxMessage);
    protocol::WireWriter writer(bytes);
    payload.encode(writer);
    return protocol_.handle({{type, false, Status::ok, 1}, std::span(bytes).first(writer.size())});
  }

  target::SessionProtocol protocol_{
      5, {}, the_target().world.catalog(), the_target().world.limits()};
  const target::Attachment* attachment_ = nullptr;
};

/// What a peer waits for.
struct Sent {
  MessageType type{};
  IoRequest request;
  std::vector<Range> ranges;
  bool alone = false;  ///< nothing else was under way
};

class Peer final : private target::IoQueueOwner {
 public:
  Peer(Input& input, const char* name, protocol::Access access)
      : input_(input), attached_(name, access) {
    const target::ServedQueueContext context{target_.io, target_.counters, target_.thread,
                                             target_.blocking};
    auto made = std::make_unique<ScriptedConnection>();
    connection_ = made.get();
    std::unique_ptr<cm::Connection> connection = std::move(made);
    target::IoQueueOwner& owner = *this;
    const target::QueueGround ground{nullptr, attached_.get().grant()};
    if (attached_.get().use()->resident() != nullptr) {
      queue_ = std::make_unique<target::ResidentQueue>(connection, attached_.get(), 0, ground,
                                                       context, owner);
    } else {
      queue_ = std::make_unique<target::FileQueue>(connection, attached_.get(), 0, ground, context,
                                                   owner);
    }
    qp().on_sent([this] { asio::post(target_.io, [] {}); });
    queue_->accept();
    learn_file();
  }

  ~Peer() override {
    bool closed = false;
    queue_->close([&closed] { closed = true; });
    wait_until([&closed] { return closed; });
    queue_.reset();
  }

  void run() {
    if (input_.flag()) send(MessageType::queue, 0, {}, {});
    while (!input_.empty() && !over_) step();
    settle();
    if (over_) return;
    require(!keeps_rules_ || qp().receives() == commands(), "a receive is posted for every slot");
  }

 private:
  ScriptedQueuePair& qp() const { return connection_->scripted_queue_pair(); }
  unsigned commands() const { return attached_.get().use()->layout().count; }
  target::FileStore& store() const { return attached_.get().use()->store(); }

  void step() {
    switch (input_.choice(10)) {
      case 0:
        return say_anything();
      case 1:
        return settle();
      case 2:
        qp().complete_send();
        return;
      case 3:
        keeps_rules_ = false;
        qp().deliver_immediate(input_.number<std::uint32_t>());
        return;
      case 4:
        return fail();
      case 5:
        return say_queue();
      default:
        return say_command();
    }
  }

  void say_queue() { send(MessageType::queue, input_.choice(commands()), {}, input_.block()); }

  void say_anything() {
    const auto message = input_.block();
    if (message.size() <= protocol::kMaxMessage) deliver(message, std::nullopt);
  }

  void fail() {
    keeps_rules_ = false;
    if (input_.flag()) {
      qp().flush();
    } else {
      qp().complete_send(IBV_WC_REM_OP_ERR);
    }
  }

  void say_command() {
    Sent sent;
    sent.type =
        static_cast<MessageType>(static_cast<unsigned>(MessageType::read) + input_.choice(5));
    const unsigned slot = input_.choice(commands() + 1);
    sent.alone = input_.flag();
    sent.request.offset = input_.number<std::uint16_t>();
    sent.request.length = input_.number<std::uint16_t>();
    sent.request.flags = input_.number();
    if (sent.type == MessageType::flush) {
      sent.request.count = input_.choice(8);
      for (unsigned i = 0; i < sent.request.count; ++i) {
        const auto offset = input_.number<std::uint16_t>();
        sent.ranges.push_back({offset, input_.number<std::uint16_t>()});
      }
    }
    if (sent.type == MessageType::map) sent.request.count = input_.number();
    if (sent.alone) settle();
    if (over_) return;
    fill(sent, slot);
    std::vector<std::byte> payload(protocol::kMaxMessage);
    protocol::WireWriter writer(payload);
    sent.request.encode(writer);
    for (const Range& range : sent.ranges) range.encode(writer);
    send(sent.type, slot, sent, std::span(payload).first(writer.size()));
    if (sent.alone) settle();
  }

  /// Puts the data of a request where the target looks for it.
  void fill(const Sent& sent, unsigned slot) {
    const auto value = static_cast<int>(input_.number());
    if (sent.type == MessageType::write && slots_ && sent.request.length <= slots_->max_io &&
        slot < commands() && !waiting_.contains(slot)) {
      std::memset(slot_data(slot), value, sent.request.length);
    }
    for (const Range& range : sent.ranges) {
      if (range.offset + range.length > TargetWorld::kSize || resident() == nullptr) continue;
      std::memset(resident()->memory().data() + range.offset, value, range.length);
    }
  }

  target::ResidentStore* resident() const { return attached_.get().use()->resident(); }

  std::byte* slot_data(unsigned slot) const {
    return reinterpret_cast<std::byte*>(slots_->address) + std::size_t{slot} * slots_->stride;
  }

  void send(MessageType type, unsigned slot, Sent sent, std::span<const std::byte> payload) {
    std::vector<std::byte> message(protocol::kMaxMessage);
    payload = payload.first(std::min(payload.size(), message.size() - protocol::kHeaderSize));
    std::ranges::copy(payload, message.begin() + protocol::kHeaderSize);
    message.resize(
        protocol::finish_message(message, {type, false, Status::ok, slot}, payload.size()));
    sent.type = type;
    deliver(message, std::move(sent));
  }

  void deliver(std::span<const std::byte> message, std::optional<Sent> sent) {
    take_replies();
    const auto parts = protocol::decode_message(message);
    if (!sent || !sent->alone) knows_file_ = false;
    const bool is_request = parts && !parts->header.is_reply && parts->header.tag < commands();
    const bool fits = is_request && !waiting_.contains(parts->header.tag);
    keeps_rules_ = keeps_rules_ && fits;
    const bool received = qp().deliver(message);
    require(received || !keeps_rules_, "a peer that keeps to its slots always meets a receive");
    if (!received || !is_request) return;
    if (!sent) sent.emplace().type = parts->header.type;
    waiting_[parts->header.tag].push_back(std::move(*sent));
  }

  /// Until all requests are answered, or the queue is over.
  void settle() {
    wait_until([this] {
      while (qp().complete_send()) {
      }
      take_replies();
      return over_ || waiting_.empty();
    });
  }

  template <typename Done>
  void wait_until(Done done) {
    const auto guard = asio::make_work_guard(target_.io);
    target_.io.restart();
    while (!done()) target_.io.run_one();
  }

  void take_replies() {
    for (const auto& bytes : qp().take_sent()) {
      const auto message = protocol::decode_message(bytes);
      require(message && message->header.is_reply, "the target sends replies");
      const auto found = waiting_.find(message->header.tag);
      require(found != waiting_.end() && found->second.front().type == message->header.type,
              "a reply answers a request");
      const auto slot = static_cast<unsigned>(found->first);
      const Sent sent = std::move(found->second.front());
      found->second.pop_front();
      if (found->second.empty()) waiting_.erase(found);
      check(slot, sent, *message);
    }
  }

  void check(unsigned slot, const Sent& sent, const protocol::Message& reply) {
    const bool writes = sent.type == MessageType::write || sent.type == MessageType::zero;
    if (reply.header.status != Status::ok) {
      require(reply.payload.empty(), "what failed has no payload");
      const bool is_refused = writes && attached_.get().use()->writer() == nullptr;
      require(is_refused && reply.header.status == Status::read_only, "nothing fails by itself");
      return;
    }
    require(!writes || attached_.get().use()->writer() != nullptr, "who reads does not write");
    if (sent.type == MessageType::queue) return check_opened(reply);
    require(opened_, "QUEUE comes first");
    if (sent.type == MessageType::map) check_map(sent, reply);
    if (sent.alone) check_file(slot, sent);
  }

  void check_opened(const protocol::Message& reply) {
    require(!opened_, "a queue is opened once");
    opened_ = true;
    const auto described = protocol::QueueReply::decode(reply.payload);
    require(described && described->commands == commands(), "a queue says how many slots it has");
    if (described->address != 0) slots_ = described;
  }

  static void check_map(const Sent& sent, const protocol::Message& reply) {
    std::array<protocol::Extent, protocol::kMaxExtents> extents;
    const auto count = protocol::decode_extents(reply.payload, extents);
    require(count && *count > 0, "a map has extents");
    std::uint64_t mapped = 0;
    for (const auto& extent : std::span(extents).first(*count)) mapped += extent.length;
    // What was sent as it came from the input is not known.
    require(sent.request.length == 0 || mapped <= sent.request.length,
            "a map ends where it was "
            "to end");
  }

  /// The file holds what it held, and what this request has changed.
  void check_file(unsigned slot, const Sent& sent) {
    const auto& request = sent.request;
    const auto begin = file_.begin() + static_cast<std::ptrdiff_t>(request.offset);
    const bool known = std::exchange(knows_file_, true);
    if (known && sent.type == MessageType::read) {
      require(std::equal(slot_data(slot), slot_data(slot) + request.length, begin),
              "what is read is what the file holds");
    }
    if (known && sent.type == MessageType::write) {
      std::copy_n(slot_data(slot), request.length, begin);
    }
    if (known && sent.type == MessageType::zero) std::fill_n(begin, request.length, std::byte{});
    const std::vector<std::byte> before = file_;
    learn_file();
    if (resident() == nullptr) {
      require(!known || file_ == before, "the file holds what was written, and nothing else");
      return;
    }
    for (const Range& range : sent.ranges) {
      require(std::equal(resident()->memory().begin() + static_cast<std::ptrdiff_t>(range.offset),
                         resident()->memory().begin() +
                             static_cast<std::ptrdiff_t>(range.offset + range.length),
                         file_.begin() + static_cast<std::ptrdiff_t>(range.offset)),
              "what was flushed is in the file");
    }
  }

  void learn_file() {
    file_.resize(TargetWorld::kSize);
    const auto got = ::pread(store().file().fd(), file_.data(), file_.size(), 0);
    require(got == static_cast<ssize_t>(file_.size()), "the file keeps its size");
  }

  void on_queue_in_error(const std::string& /*line*/) override {}
  void on_queue_over(target::IoQueue& /*queue*/, const std::string& reason) override {
    require(!reason.empty(), "the end of a queue has a reason");
    over_ = true;
  }
  void on_queue_violation(target::IoQueue& /*queue*/, const std::string& reason) override {
    require(!reason.empty(), "a violation has a name");
    over_ = true;
  }

  Input& input_;
  Target& target_ = the_target();
  Attached attached_;
  ScriptedConnection* connection_ = nullptr;  ///< owned by the queue
  std::unique_ptr<target::IoQueue> queue_;
  /// By slot; several when the input does not wait for an answer, which may be on its way.
  std::map<std::uint64_t, std::deque<Sent>> waiting_;
  std::optional<protocol::QueueReply> slots_;
  std::vector<std::byte> file_;
  bool knows_file_ = true;
  bool keeps_rules_ = true;  ///< as far as slots go
  bool opened_ = false;
  bool over_ = false;
};

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using rdmablk::protocol::Access;
  struct Kind {
    const char* name;
    Access access;
  };
  constexpr std::array kKinds{Kind{"file", Access::read_write}, Kind{"file-rom", Access::read_only},
                              Kind{"kept", Access::read_write}};
  rdmablk::fuzz::Input input(data, size);
  const Kind& kind = kKinds[input.choice(kKinds.size())];
  rdmablk::fuzz::Peer(input, kind.name, kind.access).run();
  return 0;
}
