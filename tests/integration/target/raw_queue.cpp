#include "raw_queue.h"

#include <algorithm>

#include "common/error.h"
#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::testing {
namespace {

constexpr std::uint64_t kReceive = 1 << 16;  // marks the number of a receive
constexpr unsigned kReceives = RawQueue::kMessages + 1;

}  // namespace

Command command(protocol::MessageType type, std::uint64_t tag, protocol::IoRequest request,
                std::initializer_list<protocol::Range> ranges) {
  Command result{type, tag, std::vector<std::byte>(protocol::kMaxMessage)};
  if (ranges.size() > 0) request.count = static_cast<std::uint32_t>(ranges.size());
  protocol::WireWriter writer(result.payload);
  request.encode(writer);
  for (const protocol::Range& range : ranges) range.encode(writer);
  result.payload.resize(writer.size());
  return result;
}

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
  cq_.emplace(device, kMessages + kReceives, &*events_);
  cq_->arm();
  messages_.emplace(*pd_, (kMessages + kReceives) * protocol::kMaxMessage, IBV_ACCESS_LOCAL_WRITE);
  verbs::QueuePairOptions options;
  options.send_requests = kMessages;
  options.receive_requests = kReceives;
  connection_->create_queue_pair(*pd_, *cq_, options);
  for (unsigned i = 0; i < kReceives; ++i) post_receive(i);
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

ibv_wc_status RawQueue::post(ibv_send_wr& list, std::size_t count) {
  sent_.clear();
  ibv_send_wr* unposted = nullptr;
  if (connection_->queue_pair().post_send(list, unposted) != 0) return IBV_WC_WR_FLUSH_ERR;
  if (pause_) pause_();
  waiter_.until("a completion", [&] {
    poll();
    return sent_.size() == count || disconnected_;
  });
  for (const ibv_wc& completion : sent_) {
    if (completion.status != IBV_WC_SUCCESS) return completion.status;
  }
  // What is posted to a queue pair of siw that has just failed never completes.
  return sent_.size() == count ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR;
}

void RawQueue::poll() {
  ibv_wc completion{};
  while (cq_->poll({&completion, 1}) == 1) {
    if ((completion.wr_id & kReceive) != 0) {
      received_.push_back(completion);
    } else {
      sent_.push_back(completion);
    }
  }
}

void RawQueue::post_receive(unsigned number) {
  const auto buffer = messages_->piece(kMessages + number, protocol::kMaxMessage);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()),
                  static_cast<std::uint32_t>(buffer.size()), messages_->lkey()};
  ibv_recv_wr work{};
  work.wr_id = kReceive | number;
  work.sg_list = &segment;
  work.num_sge = 1;
  if (connection_->queue_pair().post_receive(work) != 0) throw Error("a receive cannot be posted");
}

bool RawQueue::send(std::span<const Command> commands) {
  std::vector<ibv_sge> segments(commands.size());
  std::vector<ibv_send_wr> works(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Command& command = commands[i];
    const auto buffer = messages_->piece(i, protocol::kMaxMessage);
    std::ranges::copy(command.payload, buffer.begin() + protocol::kHeaderSize);
    const std::size_t size = protocol::finish_message(
        buffer, {command.type, command.is_reply, protocol::Status::ok, command.tag},
        command.payload.size());
    segments[i] = {reinterpret_cast<std::uintptr_t>(buffer.data()),
                   static_cast<std::uint32_t>(size), messages_->lkey()};
    works[i].opcode = IBV_WR_SEND;
    works[i].send_flags = IBV_SEND_SIGNALED;
    works[i].sg_list = &segments[i];
    works[i].num_sge = 1;
    if (i > 0) works[i - 1].next = &works[i];
  }
  return post(works[0], works.size()) == IBV_WC_SUCCESS;
}

std::optional<Received> RawQueue::receive() {
  waiter_.until("an answer on an I/O queue", [this] {
    poll();
    return !received_.empty() || disconnected_;
  });
  if (received_.empty()) return std::nullopt;
  const ibv_wc completion = received_.front();
  received_.pop_front();
  if (completion.status != IBV_WC_SUCCESS) return std::nullopt;
  const auto number = static_cast<unsigned>(completion.wr_id & ~kReceive);
  const auto message = protocol::decode_message(
      messages_->piece(kMessages + number, protocol::kMaxMessage).first(completion.byte_len));
  if (!message) throw Error("what came on an I/O queue is no message");
  Received copy{message->header, {message->payload.begin(), message->payload.end()}};
  post_receive(number);
  return copy;
}

ibv_wc_status RawQueue::send_bytes(std::size_t size) {
  return perform(IBV_WR_SEND, 0, 0, size);
}

ibv_wc_status RawQueue::send_immediate() {
  ibv_send_wr work{};
  work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  work.send_flags = IBV_SEND_SIGNALED;
  return post(work);
}

std::optional<Received> RawQueue::request(protocol::MessageType type, std::uint64_t tag,
                                          std::span<const std::byte> payload) {
  const Command command{type, tag, {payload.begin(), payload.end()}};
  if (!send({&command, 1})) return std::nullopt;
  return receive();
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
