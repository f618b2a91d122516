#include "raw_queue.h"

#include <algorithm>

#include "common/error.h"
#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::testing {
namespace {

constexpr std::uint64_t kReceive = 1;  // the number of a receive

}  // namespace

protocol::QueueRequest queue_request(const protocol::AttachReply& attachment, std::uint16_t queue) {
  protocol::QueueRequest request;
  request.queue = queue;
  request.epoch = attachment.epoch;
  request.attachment = attachment.attachment;
  request.nonce = attachment.nonce;
  request.proof = attachment.token;
  return request;
}

RawQueue::RawQueue(EventWaiter& waiter, const SocketAddress& target,
                   std::span<const std::byte> private_data)
    : waiter_(waiter), private_data_(private_data.begin(), private_data.end()) {
  connection_ = waiter.manager().open(target, *this);
  waiter.until("an answer to the request for an I/O queue",
               [this] { return established_ || refusal_ || failed_; });
  if (failed_) throw Error("the I/O queue cannot be connected");
}

RawQueue::~RawQueue() {
  if (events_) waiter_.remove(events_->fd());
  if (connection_) connection_->disconnect();
}

bool RawQueue::is_iwarp() const noexcept {
  return verbs::is_iwarp(connection_->device());
}

void RawQueue::set_up() {
  ibv_context* const device = connection_->device();
  pd_.emplace(device);
  buffer_.emplace(*pd_, kBuffer, verbs::local_access(device));
  events_.emplace(device);
  cq_.emplace(device, 4, &*events_);
  cq_->arm();
  messages_.emplace(*pd_, 2 * protocol::kMaxMessage, IBV_ACCESS_LOCAL_WRITE);
  connection_->create_queue_pair(*pd_, *cq_, {});
  post_receive();
  waiter_.add(events_->fd(), [this] {
    events_->drain();
    cq_->arm();
  });
  connection_->connect(private_data_);
}

void RawQueue::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::resolved:
      return set_up();
    case cm::EventType::established:
      established_ = true;
      return;
    case cm::EventType::rejected:
      refusal_ = protocol::QueueRefusal::decode(event.data)
                     .value_or(protocol::QueueRefusal{protocol::Status::internal, "no reason"});
      return;
    case cm::EventType::failed:
      failed_ = true;
      return;
    case cm::EventType::disconnected:
    case cm::EventType::device_removed:
      disconnected_ = true;
      return;
  }
}

ibv_wc_status RawQueue::perform(ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t rkey,
                                std::size_t size) {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer_->data()),
                  static_cast<std::uint32_t>(size), buffer_->lkey()};
  ibv_send_wr work{};
  work.opcode = opcode;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &segment;
  work.num_sge = 1;
  work.wr.rdma.remote_addr = address;
  work.wr.rdma.rkey = rkey;
  return post(work);
}

ibv_wc_status RawQueue::post(ibv_send_wr& work) {
  sent_.reset();
  ibv_send_wr* unposted = nullptr;
  if (connection_->queue_pair().post_send(work, unposted) != 0) return IBV_WC_WR_FLUSH_ERR;
  waiter_.until("a completion", [this] {
    poll();
    return sent_ || disconnected_;
  });
  // What is posted to a queue pair of siw that has just failed never completes.
  return sent_ ? sent_->status : IBV_WC_WR_FLUSH_ERR;
}

void RawQueue::poll() {
  ibv_wc completion{};
  while (cq_->poll({&completion, 1}) == 1) {
    (completion.wr_id == kReceive ? received_ : sent_) = completion;
  }
}

void RawQueue::post_receive() {
  received_.reset();
  const auto buffer = messages_->piece(1, protocol::kMaxMessage);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()),
                  static_cast<std::uint32_t>(buffer.size()), messages_->lkey()};
  ibv_recv_wr work{};
  work.wr_id = kReceive;
  work.sg_list = &segment;
  work.num_sge = 1;
  if (connection_->queue_pair().post_receive(work) != 0) throw Error("a receive cannot be posted");
}

std::optional<Received> RawQueue::request(protocol::MessageType type, std::uint64_t tag,
                                          std::span<const std::byte> payload) {
  const auto buffer = messages_->piece(0, protocol::kMaxMessage);
  std::copy(payload.begin(), payload.end(), buffer.begin() + protocol::kHeaderSize);
  const std::size_t size =
      protocol::finish_message(buffer, {type, false, protocol::Status::ok, tag}, payload.size());
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()), static_cast<std::uint32_t>(size),
                  messages_->lkey()};
  ibv_send_wr work{};
  work.opcode = IBV_WR_SEND;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &segment;
  work.num_sge = 1;
  if (post(work) != IBV_WC_SUCCESS) return std::nullopt;
  waiter_.until("an answer on an I/O queue", [this] {
    poll();
    return received_ || disconnected_;
  });
  if (!received_ || received_->status != IBV_WC_SUCCESS) return std::nullopt;
  const auto message = protocol::decode_message(
      messages_->piece(1, protocol::kMaxMessage).first(received_->byte_len));
  if (!message) throw Error("what came on an I/O queue is no message");
  Received copy{message->header, {message->payload.begin(), message->payload.end()}};
  post_receive();
  return copy;
}

ibv_wc_status RawQueue::read(std::uint64_t address, std::uint32_t rkey, std::size_t size) {
  return perform(IBV_WR_RDMA_READ, address, rkey, size);
}

ibv_wc_status RawQueue::write(std::uint64_t address, std::uint32_t rkey, std::size_t size) {
  const auto status = perform(IBV_WR_RDMA_WRITE, address, rkey, size);
  // On iWARP only a READ behind it tells whether the WRITE was taken.
  if (status != IBV_WC_SUCCESS || !is_iwarp()) return status;
  return read(address, rkey, size);
}

std::vector<protocol::ChunkEntry> RawQueue::read_table(const protocol::ChunkTable& table) {
  const std::size_t size = table.count * protocol::ChunkEntry::kSize;
  if (read(table.address, table.rkey, size) != IBV_WC_SUCCESS) {
    throw Error("the chunk table cannot be read");
  }
  protocol::WireReader reader(buffer().first(size));
  std::vector<protocol::ChunkEntry> entries(table.count);
  for (auto& entry : entries) entry.decode(reader);
  return entries;
}

void RawQueue::wait_until_disconnected() {
  waiter_.until("the target to disconnect the I/O queue", [this] { return disconnected_; });
}

}  // namespace rdmablk::testing
