#include "tests/integration/initiator/fake_target.h"

#include <poll.h>

#include <algorithm>
#include <optional>

#include "common/protocol/io_messages.h"
#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "tests/integration/verbs/connected_pair.h"

namespace rdmablk::testing {

using protocol::MessageType;
using protocol::Status;

namespace {

constexpr std::uint64_t kChunk = 64 << 10;
constexpr std::uint32_t kSlot = 4 << 10;
constexpr unsigned kMemoryAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

}  // namespace

/// A connection with messages: an admin queue, or an I/O queue of a file.
struct FakeTarget::Peer final : protocol::MessageHandler {
  Peer(FakeTarget& owner, std::unique_ptr<cm::Connection> accepted, bool queue)
      : target(owner),
        is_queue(queue),
        slots(owner.pd_, std::size_t{protocol::kAdminCredits} * kSlot, kMemoryAccess),
        channel(owner.pd_),
        connection(std::move(accepted)) {
    channel.start(connection->create_queue_pair(owner.pd_, channel.completion_queue(),
                                                protocol::MessageChannel::queue_pair_options()));
    watch.emplace(owner.io_, channel.fd(), [] {});  // run() looks at all channels
  }

  void on_message(const protocol::Message& message) override {
    if (dead) return;
    is_queue ? target.answer_command(*this, message) : target.answer(*this, message);
  }
  void on_broken(const std::string& /*reason*/) override { dead = true; }

  template <typename Payload>
  void reply(const protocol::Message& to, Status status, const Payload& payload) {
    channel.send({to.header.type, true, status, to.header.tag}, payload);
  }

  FakeTarget& target;
  bool is_queue;
  verbs::RegisteredBuffer slots;
  protocol::MessageChannel channel;
  std::unique_ptr<cm::Connection> connection;
  std::optional<DescriptorWatch> watch;
  bool dead = false;  ///< destroyed when nothing is on the stack
};

FakeTarget::FakeTarget()
    : manager_(cm::make_manager(cm::default_method(), io_)),
      listener_(manager_->listen(test_address(), *this)),
      device_(listener_->device()),
      pd_(device_),
      memory_(pd_, kSize, kMemoryAccess),
      table_(pd_, kSize / kChunk * protocol::ChunkEntry::kSize,
             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) {
  protocol::WireWriter writer(table_.bytes());
  for (std::uint64_t offset = 0; offset < kSize; offset += kChunk) {
    protocol::ChunkEntry{reinterpret_cast<std::uintptr_t>(memory_.data()) + offset, memory_.rkey()}
        .encode(writer);
  }
  thread_ = std::thread([this] { run(); });
}

FakeTarget::~FakeTarget() {
  frozen_ = false;
  ended_ = true;
  wake_.signal();
  thread_.join();
}

HostPort FakeTarget::host_port() const {
  return parse_host_port(listener_->address().text());
}

void FakeTarget::change(const std::function<void(Script&)>& how) {
  const std::lock_guard lock(mutex_);
  how(script_);
}

void FakeTarget::drop_queues() {
  perform([this] { end_queues(); });
}

void FakeTarget::drop_admin() {
  perform([this] {
    for (const auto& peer : peers_) peer->dead = peer->dead || !peer->is_queue;
  });
}

void FakeTarget::end_queues() {
  for (const IoQueue& queue : queues_) queue.connection->disconnect();
  queues_.clear();
  for (const auto& peer : peers_) peer->dead = peer->dead || peer->is_queue;
}

/// Has the thread do something, and waits for it.
void FakeTarget::perform(std::function<void()> what) {
  {
    const std::lock_guard lock(mutex_);
    command_ = std::move(what);
  }
  has_command_ = true;
  wake_.signal();
  has_command_.wait(true);
}

void FakeTarget::run() {
  while (!ended_) {
    wait();
    if (has_command_) {
      command_();
      has_command_ = false;
      has_command_.notify_all();
    }
    if (!frozen_) {
      for (const auto& peer : peers_) {
        if (!peer->dead) peer->channel.poll(*peer);
      }
    }
    sweep();
  }
  peers_.clear();
  queues_.clear();
  listener_.reset();
}

/// For something to happen; while it is frozen, for a command alone.
void FakeTarget::wait() {
  if (frozen_) {
    pollfd command{wake_.fd(), POLLIN, 0};
    ::poll(&command, 1, -1);
    wake_.take();
    return;
  }
  io_.restart();
  io_.run_one();
}

/// Destroys what has died.
void FakeTarget::sweep() {
  const auto is_gone = [this](const cm::Connection* connection) {
    return std::ranges::find(gone_, connection) != gone_.end();
  };
  for (const auto& peer : peers_) {
    peer->dead = peer->dead || is_gone(peer->connection.get());
    if (peer->dead) peer->connection->disconnect();
  }
  std::erase_if(peers_, [](const auto& peer) { return peer->dead; });
  std::erase_if(queues_, [&](const IoQueue& queue) { return is_gone(queue.connection.get()); });
  gone_.clear();
}

/// Whether this is where it is to break off.
bool FakeTarget::dies_at(Step step) {
  const std::lock_guard lock(mutex_);
  if (script_.deaths.empty() || script_.deaths.front() != step) return false;
  script_.deaths.erase(script_.deaths.begin());
  return true;
}

void FakeTarget::on_event(cm::Connection& connection, const cm::Event& event) {
  using enum cm::EventType;
  if (event.type == disconnected || event.type == failed || event.type == rejected) {
    gone_.push_back(&connection);
  }
}

void FakeTarget::on_request(std::unique_ptr<cm::Connection> connection,
                            std::span<const std::byte> private_data) {
  const auto request = protocol::QueueRequest::decode(private_data);
  if (!request || look([](const Script& script) { return script.refuses_connections; })) return;
  try {
    request->queue == protocol::kAdminQueue ? take_admin(std::move(connection))
                                            : take_queue(std::move(connection), *request);
  } catch (const Error&) {  // the initiator has gone meanwhile
  }
}

void FakeTarget::take_admin(std::unique_ptr<cm::Connection> connection) {
  if (dies_at(Step::admin_request)) return;
  Status status = Status::ok;
  change([&](Script& script) { status = std::exchange(script.connect_status, Status::ok); });
  if (status != Status::ok) {
    return connection->reject(protocol::QueueRefusal{status, "not now"}.encode());
  }
  peers_.push_back(std::make_unique<Peer>(*this, std::move(connection), false));
  peers_.back()->connection->accept(*this);
  if (dies_at(Step::admin_accepted)) peers_.back()->dead = true;
}

void FakeTarget::take_queue(std::unique_ptr<cm::Connection> connection,
                            const protocol::QueueRequest& request) {
  change([&](Script& script) { script.queues.push_back(request); });
  if (dies_at(Step::queue_request)) return;
  if (look([](const Script& script) { return script.kind == protocol::ExportKind::file; })) {
    peers_.push_back(std::make_unique<Peer>(*this, std::move(connection), true));
    peers_.back()->connection->accept(*this);
    if (dies_at(Step::queue_accepted)) peers_.back()->dead = true;
    return;
  }
  IoQueue queue{std::make_unique<verbs::CompletionQueue>(device_, 16U, nullptr),
                std::move(connection)};
  queue.connection->create_queue_pair(pd_, *queue.cq, {});
  queue.connection->accept(*this);
  queues_.push_back(std::move(queue));
  if (dies_at(Step::queue_accepted)) queues_.pop_back();
}

void FakeTarget::answer(Peer& peer, const protocol::Message& message) {
  switch (message.header.type) {
    case MessageType::hello: {
      const auto hello = protocol::Hello::decode(message.payload);
      change([&](Script& script) { script.hellos.push_back(*hello); });
      if (dies_at(Step::hello)) return peer.dead = true, void();
      end_queues();  // fences whoever was there before
      protocol::HelloReply reply;
      reply.version = protocol::kVersion;
      reply.credits = protocol::kAdminCredits;
      reply.session = 1;
      reply.max_message = protocol::kMaxMessage;
      reply.keepalive_ms = look([](const Script& script) { return script.keepalive_ms; });
      return peer.reply(message, Status::ok, reply);
    }
    case MessageType::list:
      return answer_list(peer, message);
    case MessageType::event:  // is acknowledged
      return;
    case MessageType::attach:
      return answer_attach(peer, message);
    default:
      return peer.reply(message, Status::ok, protocol::Empty{});
  }
}

void FakeTarget::answer_list(Peer& peer, const protocol::Message& message) {
  protocol::ListReply reply;
  reply.more = look([](const Script& script) { return script.lists_for_ever; });
  if (reply.more) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    reply.exports.emplace_back().name = "disk";
    reply.exports.back().size = kSize;
    reply.exports.back().block_size = 4096;
    protocol::EventNotice notice;
    notice.kind = protocol::EventKind::shutting_down;
    peer.channel.send({MessageType::event, false, Status::ok, 1}, notice);
  }
  peer.reply(message, Status::ok, reply);
}

void FakeTarget::answer_attach(Peer& peer, const protocol::Message& message) {
  const auto request = protocol::Attach::decode(message.payload);
  change([&](Script& script) { script.attaches.push_back(*request); });
  if (dies_at(Step::attach)) return peer.dead = true, void();
  const Script script = look([](const Script& s) { return s; });
  const bool is_stale =
      request->generation != protocol::Generation{} && request->generation != script.generation;
  const Status status = is_stale ? Status::stale : script.attach_status;
  if (status != Status::ok) return peer.reply(message, status, protocol::Reason{"not yours"});
  protocol::AttachReply reply;
  reply.info.name = "disk";
  reply.info.size = kSize;
  reply.info.kind = script.kind;
  reply.info.block_size = 4096;
  reply.attachment = ++last_attachment_;
  reply.access = request->access;
  reply.queues = request->queues;
  reply.depth = std::min<std::uint32_t>(request->depth, protocol::kAdminCredits);
  reply.max_io = request->max_io;
  reply.epoch = 1;
  reply.generation = script.generation;
  reply.lease = script.lease;
  reply.table.address = reinterpret_cast<std::uintptr_t>(table_.data());
  reply.table.rkey = table_.rkey();
  reply.table.count = kSize / kChunk;
  reply.table.chunk_size = kChunk;
  peer.reply(message, Status::ok, reply);
}

void FakeTarget::answer_command(Peer& peer, const protocol::Message& message) {
  if (message.header.type == MessageType::queue) {
    protocol::QueueReply reply;
    reply.address = reinterpret_cast<std::uintptr_t>(peer.slots.data());
    reply.rkey = peer.slots.rkey();
    reply.commands = protocol::kAdminCredits;
    reply.stride = kSlot;
    reply.max_io = kSlot;
    return peer.reply(message, Status::ok, reply);
  }
  if (!look([](const Script& script) { return script.answers_commands; })) return;
  std::optional<std::optional<Status>> scripted;
  change([&](Script& script) {
    if (script.next_answers.empty()) return;
    scripted = script.next_answers.front();
    script.next_answers.pop_front();
  });
  if (scripted) {
    if (*scripted) peer.reply(message, **scripted, protocol::Empty{});
    return;
  }
  const auto command = protocol::IoCommand::decode(message.header.type, message.payload, kSize);
  const auto data = peer.slots.piece(message.header.tag, kSlot)
                        .first(std::min<std::size_t>(command->request().length, kSlot));
  const auto place = memory_.bytes().subspan(command->request().offset, data.size());
  if (message.header.type == MessageType::write) std::ranges::copy(data, place.begin());
  if (message.header.type == MessageType::read) std::ranges::copy(place, data.begin());
  peer.reply(message, Status::ok, protocol::Empty{});
}

}  // namespace rdmablk::testing
