#include "raw_queue.h"

#include "common/error.h"
#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::testing {

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
  cq_.emplace(device, 2, &*events_);
  cq_->arm();
  connection_->create_queue_pair(*pd_, *cq_, {});
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
  ibv_send_wr* unposted = nullptr;
  if (connection_->queue_pair().post_send(work, unposted) != 0) return IBV_WC_WR_FLUSH_ERR;
  ibv_wc completion{};
  bool completed = false;
  waiter_.until("a completion", [&] {
    completed = cq_->poll({&completion, 1}) == 1;
    return completed || disconnected_;
  });
  // What is posted to a queue pair of siw that has just failed never completes.
  return completed ? completion.status : IBV_WC_WR_FLUSH_ERR;
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
