#include "raw_initiator.h"

#include <cstring>

#include "common/error.h"
#include "common/protocol/private_data.h"
#include "common/random.h"

namespace rdmablk::testing {

std::string Received::reason() const {
  const auto decoded = protocol::Reason::decode(payload);
  return decoded ? decoded->text : "(not a reason)";
}

RawInitiator::RawInitiator(EventWaiter& waiter, const SocketAddress& target) : waiter_(waiter) {
  connection_ = waiter.manager().open(target, *this);
  waiter.until("the admin queue to be connected",
               [this] { return established_ || !failure_.empty(); });
  if (failure_.empty()) return;
  stop_watching();
  throw Error(failure_);
}

void RawInitiator::stop_watching() {
  if (channel_) waiter_.remove(channel_->fd());
}

RawInitiator::~RawInitiator() {
  stop_watching();
  if (connection_) connection_->disconnect();
}

void RawInitiator::set_up() {
  pd_.emplace(connection_->device());
  bytes_.emplace(*pd_, protocol::kMaxMessage, IBV_ACCESS_LOCAL_WRITE);
  channel_.emplace(*pd_);
  auto& qp = connection_->create_queue_pair(*pd_, channel_->completion_queue(),
                                            protocol::MessageChannel::queue_pair_options());
  channel_->start(qp);
  waiter_.add(channel_->fd(), [this] { channel_->poll(*this); });
  connection_->connect(protocol::QueueRequest{}.encode());
}

void RawInitiator::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::resolved:
      return set_up();
    case cm::EventType::established:
      established_ = true;
      return;
    case cm::EventType::rejected:
      failure_ = "refused: ";
      if (const auto refusal = protocol::QueueRefusal::decode(event.data))
        failure_ += refusal->text;
      return;
    case cm::EventType::failed:
      failure_ = "cannot connect: " + errno_text(event.error);
      return;
    case cm::EventType::disconnected:
    case cm::EventType::device_removed:
      // The target's last word came before.
      disconnected_ = true;
      channel_->poll(*this);
      return;
  }
}

void RawInitiator::on_message(const protocol::Message& message) {
  received_.push_back({message.header, {message.payload.begin(), message.payload.end()}});
}

void RawInitiator::on_broken(const std::string& /*reason*/) {
  stop_watching();
}

void RawInitiator::throw_unsent() {
  throw Error("the message cannot be sent");
}

void RawInitiator::send_bytes(std::span<const std::byte> bytes) {
  std::memcpy(bytes_->data(), bytes.data(), bytes.size());
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(bytes_->data()),
                  static_cast<std::uint32_t>(bytes.size()), bytes_->lkey()};
  ibv_send_wr work{};
  work.opcode = IBV_WR_SEND;
  work.sg_list = &segment;
  work.num_sge = 1;
  ibv_send_wr* unposted = nullptr;
  if (connection_->queue_pair().post_send(work, unposted) != 0) throw_unsent();
}

Received RawInitiator::receive() {
  waiter_.until("a message", [this] { return !received_.empty() || disconnected_; });
  if (received_.empty()) throw Error("the target disconnected instead of answering");
  Received first = std::move(received_.front());
  received_.pop_front();
  return first;
}

void RawInitiator::wait_until_disconnected() {
  waiter_.until("the target to disconnect", [this] { return disconnected_; });
}

protocol::HelloReply RawInitiator::hello(const protocol::InstanceId& instance) {
  protocol::Hello hello;
  hello.instance =
      instance == protocol::InstanceId{} ? random_bytes<protocol::InstanceId>() : instance;
  hello.version_min = hello.version_max = protocol::kVersion;
  const auto received = request(protocol::MessageType::hello, hello);
  const auto reply = protocol::HelloReply::decode(received.payload);
  if (received.header.status != protocol::Status::ok || !reply)
    throw Error("HELLO was refused: " + received.reason());
  return *reply;
}

protocol::Attach attach_request(const std::string& name, protocol::Access access,
                                std::uint16_t queues) {
  protocol::Attach request;
  request.name = name;
  request.access = access;
  request.queues = queues;
  request.depth = 32;
  request.max_io = std::uint32_t{1} << 20U;
  return request;
}

protocol::AttachReply RawInitiator::attach(const std::string& name, protocol::Access access,
                                           std::uint16_t queues, std::uint32_t flags) {
  protocol::Attach wanted = attach_request(name, access, queues);
  wanted.flags = flags;
  const auto received = request(protocol::MessageType::attach, wanted);
  const auto reply = protocol::AttachReply::decode(received.payload);
  if (received.header.status != protocol::Status::ok || !reply) {
    throw Error("ATTACH was refused: " + received.reason());
  }
  return *reply;
}

}  // namespace rdmablk::testing
