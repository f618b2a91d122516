#include "initiator/memory_queue.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>

#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "initiator/remote_read.h"

namespace rdmablk::initiator {
namespace {

/// The work request number of a READ that acknowledges; the others carry their request's address.
constexpr std::uint64_t kAcknowledgement = 1;

/// Bytes of such a READ: any number from one would do.
constexpr std::uint32_t kAcknowledgementSize = protocol::ChunkEntry::kSize;

/// On iWARP each batch of WRITEs is followed by a READ.
unsigned capacity_for(bool is_iwarp, unsigned depth) {
  return is_iwarp ? 2 * depth : depth;
}

bool is_write(const Request& request) {
  return request.operation != Operation::read;
}

}  // namespace

MemoryQueue::MemoryQueue(std::unique_ptr<Link> link, const verbs::ProtectionDomain& pd,
                         MemoryQueueOptions options, std::span<const std::byte> private_data,
                         ControlLoop::Clock::time_point deadline)
    : options_(std::move(options)),
      is_iwarp_(verbs::is_iwarp(link->device())),
      capacity_(capacity_for(is_iwarp_, options_.depth)),
      events_(link->device()),
      cq_(link->device(), capacity_ + 1, &events_),
      sink_(pd, kAcknowledgementSize, verbs::local_access(link->device())),
      link_(std::move(link)),
      acknowledgements_(capacity_) {
  verbs::QueuePairOptions qp_options;
  qp_options.send_requests = capacity_;
  qp_ = &link_->create_queue_pair(pd, cq_, qp_options);
  link_->on_lost(
      [name = options_.name] { spdlog::error("{}: an I/O queue lost its connection", name); });
  link_->connect(private_data, deadline);
}

void MemoryQueue::read_chunk_table(ControlLoop& loop, const verbs::ProtectionDomain& pd,
                                   const protocol::ChunkTable& table,
                                   ControlLoop::Clock::time_point deadline) {
  const std::size_t size = table.count * protocol::ChunkEntry::kSize;
  const verbs::RegisteredBuffer buffer(pd, size, verbs::local_access(pd.context()));
  for (std::size_t done = 0; done < size;) {
    const std::size_t piece = std::min<std::size_t>(size - done, options_.max_piece);
    read_remote(loop, {*qp_, cq_, events_}, buffer.bytes().subspan(done, piece), buffer.lkey(),
                {table.address + done, table.rkey}, deadline);
    done += piece;
  }
  protocol::WireReader reader(buffer.bytes());
  std::vector<protocol::ChunkEntry> entries(table.count);
  for (protocol::ChunkEntry& entry : entries) entry.decode(reader);
  chunks_.emplace(table.chunk_size, std::move(entries));
  table_ = table;
}

void MemoryQueue::submit(Request& request) noexcept {
  request.error = down_ ? EIO : 0;
  request.progress = {};
  const bool nothing_to_do = request.operation == Operation::flush || request.length == 0;
  if (down_ || nothing_to_do) return done_.push(request);
  pending_.push(request);
}

void MemoryQueue::kick() noexcept {
  post_pending();
}

void MemoryQueue::arm() noexcept {
  events_.drain();
  cq_.arm();
}

std::size_t MemoryQueue::poll(std::span<Request*> done) noexcept {
  std::array<ibv_wc, 32> completions;
  while (const std::size_t count = cq_.poll(completions)) {
    for (const ibv_wc& completion : std::span(completions).first(count)) complete(completion);
    if (count < completions.size()) break;
  }
  post_pending();
  std::size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

void MemoryQueue::post_pending() noexcept {
  // A batch of writes on iWARP takes at least two work requests.
  const unsigned least = is_iwarp_ ? 2 : 1;
  while (!down_ && !pending_.empty() && room() >= least) {
    Batch batch;
    fill(batch);
    post(batch);
  }
  if (down_) fail_waiting();
}

void MemoryQueue::fill(Batch& batch) noexcept {
  const unsigned limit = std::min(room(), kBatch) - (is_iwarp_ ? 1 : 0);
  while (batch.size < limit && !pending_.empty()) {
    Request& request = *pending_.front();
    add_piece(batch, request);
    if (request.progress.posted < request.length) continue;
    pending_.pop();
    if (is_iwarp_ && is_write(request)) {
      unacknowledged_.push(request);
      ++batch.acknowledges;
    }
  }
  if (batch.acknowledges > 0) add_acknowledgement(batch);
}

void MemoryQueue::add_piece(Batch& batch, Request& request) noexcept {
  Request::Progress& progress = request.progress;
  const ChunkMap::Place place = chunks_->locate(request.offset + progress.posted);
  const std::uint64_t length =
      std::min({request.length - progress.posted, place.contiguous, options_.max_piece});
  ibv_sge& segment = batch.segments[batch.size];
  segment.length = static_cast<std::uint32_t>(length);
  if (request.operation == Operation::zero) {
    segment.addr = reinterpret_cast<std::uintptr_t>(options_.zeroes->data());
    segment.lkey = options_.zeroes->lkey();
  } else {
    segment.addr = reinterpret_cast<std::uintptr_t>(request.data) + progress.posted;
    segment.lkey = request.lkey;
  }
  ibv_send_wr& work = batch.requests[batch.size++];
  work = {};
  work.wr_id = reinterpret_cast<std::uintptr_t>(&request);
  work.opcode = is_write(request) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &segment;
  work.num_sge = 1;
  work.wr.rdma.remote_addr = place.address;
  work.wr.rdma.rkey = place.rkey;
  progress.posted += length;
  ++progress.outstanding;
}

void MemoryQueue::add_acknowledgement(Batch& batch) noexcept {
  ibv_sge& segment = batch.segments[batch.size];
  segment = {reinterpret_cast<std::uintptr_t>(sink_.data()), kAcknowledgementSize, sink_.lkey()};
  ibv_send_wr& work = batch.requests[batch.size++];
  work = {};
  work.wr_id = kAcknowledgement;
  work.opcode = IBV_WR_RDMA_READ;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &segment;
  work.num_sge = 1;
  work.wr.rdma.remote_addr = table_.address;
  work.wr.rdma.rkey = table_.rkey;
  acknowledgements_[next_acknowledgement_] = batch.acknowledges;
  next_acknowledgement_ = (next_acknowledgement_ + 1) % acknowledgements_.size();
}

void MemoryQueue::post(Batch& batch) noexcept {
  for (unsigned i = 0; i + 1 < batch.size; ++i) batch.requests[i].next = &batch.requests[i + 1];
  in_flight_ += batch.size;
  ibv_send_wr* unposted = nullptr;
  const int error = qp_->post_send(batch.requests[0], unposted);
  if (error == 0) return;
  for (; unposted != nullptr; unposted = unposted->next) {
    --in_flight_;
    if (unposted->wr_id == kAcknowledgement) continue;
    Request& request = *reinterpret_cast<Request*>(unposted->wr_id);
    request.error = EIO;
    --request.progress.outstanding;
    // It is in no list any more once its last piece was in the batch, but for iWARP's writes.
    const bool listed =
        request.progress.posted < request.length || (is_iwarp_ && is_write(request));
    if (!listed && request.progress.outstanding == 0) done_.push(request);
  }
  go_down(fmt::format("cannot post to the queue pair: {}", errno_text(error)));
}

void MemoryQueue::complete(const ibv_wc& completion) noexcept {
  --in_flight_;
  const bool failed = completion.status != IBV_WC_SUCCESS;
  if (failed) go_down(verbs::describe(completion));
  if (completion.wr_id == kAcknowledgement) {
    if (!failed) acknowledge();
    return;
  }
  Request& request = *reinterpret_cast<Request*>(completion.wr_id);
  if (failed) request.error = EIO;
  --request.progress.outstanding;
  finish(request);
}

/// Moves on a request that has just lost a work request.
void MemoryQueue::finish(Request& request) noexcept {
  const Request::Progress& progress = request.progress;
  if (progress.outstanding > 0 || progress.posted < request.length) return;
  if (is_iwarp_ && is_write(request)) return;  // the READ behind it decides
  done_.push(request);
}

void MemoryQueue::acknowledge() noexcept {
  unsigned covered = acknowledgements_[first_acknowledgement_];
  first_acknowledgement_ = (first_acknowledgement_ + 1) % acknowledgements_.size();
  for (; covered > 0; --covered) done_.push(unacknowledged_.pop());
}

void MemoryQueue::go_down(const std::string& why) noexcept {
  if (down_) return;
  down_ = true;
  spdlog::error("{}: an I/O queue failed: {}; its requests end with an I/O error", options_.name,
                why);
}

/// Ends what waits. A buffer may be used again only when the device has let go of it: not before
/// the last work request has completed.
void MemoryQueue::fail_waiting() noexcept {
  if (in_flight_ > 0) return;
  for (RequestList* list : {&unacknowledged_, &pending_}) {
    while (!list->empty()) {
      Request& request = list->pop();
      request.error = EIO;
      done_.push(request);
    }
  }
}

}  // namespace rdmablk::initiator
