#include "initiator/memory_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/verbs/context.h"
#include "initiator/image_range.h"
#include "initiator/refusal.h"
#include "initiator/remote_read.h"
#include "initiator/whole_map.h"

namespace rdmablk::initiator {
namespace {

/// Bytes of the READ that acknowledges: any number from one would do.
constexpr std::uint32_t kAcknowledgementSize = protocol::ChunkEntry::kSize;

/// Where READs acknowledge, each batch of WRITEs is followed by one.
unsigned capacity_for(bool acknowledges_by_read, unsigned depth) {
  return acknowledges_by_read ? 2 * depth : depth;
}

bool is_write(const Request& request) {
  return request.operation != Operation::read;
}

verbs::QueuePairOptions queue_pair_options(unsigned capacity,
                                           const std::optional<CommandUse>& commands) {
  verbs::QueuePairOptions options;
  options.send_requests = capacity;
  if (commands) {
    options.send_requests += commands->channel.commands();
    options.receive_requests = commands->channel.commands();
  }
  return options;
}

}  // namespace

MemoryQueue::MemoryQueue(Way way, MemoryQueueOptions options,
                         std::span<const std::byte> private_data,
                         ControlLoop::Clock::time_point deadline,
                         std::optional<CommandUse> commands)
    : ConnectedQueue(std::move(way.use)),
      options_(std::move(options)),
      acknowledges_by_read_(options_.acknowledges_by_read || verbs::is_iwarp(device().context())),
      commands_(commands),
      slots_(capacity_for(acknowledges_by_read_, options_.depth)),
      sink_(device().domain(), kAcknowledgementSize, verbs::local_access(device().context())),
      connection_(std::move(way.link), device().domain(),
                  queue_pair_options(slots_.room(), commands_)),
      acknowledgements_(slots_.room()) {
  if (commands_) commands_->channel.start(connection_.queue_pair());
  connection_.connect(private_data, deadline);
}

void MemoryQueue::read_chunk_table(ControlLoop& loop, std::uint64_t image_size,
                                   const protocol::ChunkTable& table,
                                   ControlLoop::Clock::time_point deadline) {
  const std::size_t size = table.count * protocol::ChunkEntry::kSize;
  const verbs::RegisteredBuffer buffer(device().domain(), size,
                                       verbs::local_access(device().context()));
  for (std::size_t done = 0; done < size;) {
    const std::size_t piece = std::min<std::size_t>(size - done, options_.max_piece);
    read_remote(loop, connection_.idle(), buffer.bytes().subspan(done, piece), buffer.lkey(),
                {table.address + done, table.rkey}, deadline);
    done += piece;
  }
  chunks_ = ChunkMap(table.chunk_size, std::vector<protocol::ChunkEntry>(table.count));
  chunks_.read(buffer.bytes());
  table_ = table;
  size_ = image_size;
}

void MemoryQueue::submit(Request& request) noexcept {
  request.error = 0;
  request.progress.restart();
  if (is_down()) return give_back(request);
  const bool has_work = request.operation != Operation::flush && request.length > 0;
  if (has_work && !is_within(request, size_)) [[unlikely]] {
    request.error = error_past_end(request);
  } else if (has_work && request.operation != Operation::map) {
    return pending_.push(request);
  } else if (has_work) {
    map_as_data(request);
  }
  done_.push(request);
}

std::size_t MemoryQueue::poll(std::span<Request*> done) noexcept {
  // First: what a lost connection has left in its completion queue counts as undone.
  notice_loss();
  if (!is_down()) {
    reap();
    post_pending();
    notice_loss();
  }
  std::size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

void MemoryQueue::post_pending() noexcept {
  if (resizing() != nullptr && !is_resized_) [[unlikely]] {
    if (!advance_resize()) return;
  }
  // A batch of writes that a READ acknowledges takes at least two work requests.
  const unsigned least = acknowledges_by_read_ ? 2 : 1;
  while (!is_down() && !pending_.empty() && slots_.room() >= least) {
    Batch batch;
    fill(batch);
    post(batch.sends);
  }
}

void MemoryQueue::resize(std::unique_ptr<QueueResize> to) noexcept {
  table_read_ = 0;
  is_resized_ = false;
  ConnectedQueue::resize(std::move(to));
  post_pending();
}

std::unique_ptr<QueueResize> MemoryQueue::take_resized() noexcept {
  return std::exchange(is_resized_, false) ? ConnectedQueue::take_resized() : nullptr;
}

/// Posts nothing but READs of the new table, and these when all that went by the old one is
/// through.
/// @return whether it is taken up.
bool MemoryQueue::advance_resize() noexcept {
  if (is_down() || !slots_.all_free()) return false;
  QueueResize& to = *resizing();
  if (table_read_ < to.table.count * protocol::ChunkEntry::kSize) {
    read_table_piece(to);
    return false;
  }
  adopt(to);
  return true;
}

void MemoryQueue::read_table_piece(const QueueResize& to) noexcept {
  const std::size_t size = to.table.count * protocol::ChunkEntry::kSize;
  const auto length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(size - table_read_, options_.max_piece));
  SendBatch batch;
  ibv_send_wr& work = batch.add(
      IBV_WR_RDMA_READ,
      {reinterpret_cast<std::uintptr_t>(to.sink->data()) + table_read_, length, to.sink->lkey()});
  work.wr_id = slots_.take(nullptr);
  work.wr.rdma.remote_addr = to.table.address + table_read_;
  work.wr.rdma.rkey = to.table.rkey;
  table_read_ += length;
  is_reading_table_ = true;
  post(batch);
}

void MemoryQueue::adopt(QueueResize& to) noexcept {
  to.chunks.read(to.sink->bytes());
  std::swap(chunks_, to.chunks);
  table_ = to.table;
  size_ = to.size;
  is_resized_ = true;
  RequestList within;
  while (!pending_.empty()) {
    Request& request = pending_.pop();
    if (is_within(request, size_)) {
      within.push(request);
      continue;
    }
    request.error = error_past_end(request);
    done_.push(request);
  }
  pending_ = within;
}

void MemoryQueue::post(SendBatch& batch) noexcept {
  if (const int error = batch.post(connection_.queue_pair())) {
    go_down(fmt::format("cannot post to its queue pair: {}", errno_text(error)));
  }
}

void MemoryQueue::fill(Batch& batch) noexcept {
  const unsigned limit =
      std::min(slots_.room(), SendBatch::kCapacity) - (acknowledges_by_read_ ? 1 : 0);
  while (batch.sends.size() < limit && !pending_.empty()) {
    Request& request = *pending_.front();
    add_piece(batch, request);
    if (request.progress.posted < request.length) continue;
    pending_.pop();
    if (acknowledges_by_read_ && is_write(request)) {
      unacknowledged_.push(request);
      ++batch.acknowledges;
    }
  }
  if (batch.acknowledges > 0) add_acknowledgement(batch);
}

void MemoryQueue::add_piece(Batch& batch, Request& request) noexcept {
  Request::Progress& progress = request.progress;
  if (progress.posted == 0) note_post(request, batch.time);
  const ChunkMap::Place place = chunks_.locate(request.offset + progress.posted);
  const auto length = static_cast<std::uint32_t>(
      std::min({request.length - progress.posted, place.contiguous, options_.max_piece}));
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(request.data) + progress.posted, length,
                  lkey_on(device().number(), request)};
  if (request.operation == Operation::zero || request.operation == Operation::discard) {
    segment.addr = reinterpret_cast<std::uintptr_t>(options_.zeroes->bytes().data());
    segment.lkey = options_.zeroes->keys()->on(device().number());
  }
  ibv_send_wr& work =
      batch.sends.add(is_write(request) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, segment);
  work.wr_id = slots_.take(&request);
  work.wr.rdma.remote_addr = place.address;
  work.wr.rdma.rkey = place.rkey;
  progress.posted += length;
  ++progress.outstanding;
}

void MemoryQueue::add_acknowledgement(Batch& batch) noexcept {
  ibv_send_wr& work = batch.sends.add(
      IBV_WR_RDMA_READ,
      {reinterpret_cast<std::uintptr_t>(sink_.data()), kAcknowledgementSize, sink_.lkey()});
  work.wr_id = slots_.take(nullptr);
  work.wr.rdma.remote_addr = table_.address;
  work.wr.rdma.rkey = table_.rkey;
  acknowledgements_[next_acknowledgement_] = batch.acknowledges;
  next_acknowledgement_ = (next_acknowledgement_ + 1) % acknowledgements_.size();
}

void MemoryQueue::reap() noexcept {
  std::array<ibv_wc, 32> completions;
  while (const std::size_t count = connection_.completion_queue().poll(completions)) {
    for (const ibv_wc& completion : std::span(completions).first(count)) {
      complete(completion);
      if (is_down()) return;
    }
    if (count < completions.size()) return;
  }
}

void MemoryQueue::complete(const ibv_wc& completion) noexcept {
  // In order on one queue pair: all that follows has failed too.
  if (completion.status != IBV_WC_SUCCESS) {
    if (Request* const request = slots_.find(completion.wr_id)) {
      note_refusal(*request, completion.status);
    }
    return go_down(verbs::describe(completion));
  }
  if (!CommandChannel::owns(completion)) return complete(slots_.release(completion.wr_id));
  const char* why = commands_->channel.complete(completion, commands_->handler);
  if (why != nullptr) go_down(why);
}

/// @param request null for a READ that acknowledges, or of a new table.
void MemoryQueue::complete(Request* request) noexcept {
  if (request == nullptr) {
    if (!std::exchange(is_reading_table_, false)) acknowledge();
    return;
  }
  --request->progress.outstanding;
  if (request->progress.outstanding == 0 && !is_listed(*request)) done_.push(*request);
}

void MemoryQueue::acknowledge() noexcept {
  unsigned covered = acknowledgements_[first_acknowledgement_];
  first_acknowledgement_ = (first_acknowledgement_ + 1) % acknowledgements_.size();
  for (; covered > 0; --covered) done_.push(unacknowledged_.pop());
}

/// Whether a request that was posted is still in a list of its own, since it is not through: part
/// of it waits for room, or it waits for its acknowledgement.
bool MemoryQueue::is_listed(const Request& request) const noexcept {
  return request.progress.posted < request.length || (acknowledges_by_read_ && is_write(request));
}

/// Returns a request as undone, unless it is known how it ended.
void MemoryQueue::give_back(Request& request) noexcept {
  if (request.error == 0) request.error = kUndone;
  done_.push(request);
}

/// Also when it is down already: what the descriptor tells must be taken, or nobody sleeps any
/// more.
void MemoryQueue::notice_loss() noexcept {
  if (connection_.take_loss()) go_down(connection_.failure(), connection_.was_closed_by_peer());
}

void MemoryQueue::go_down(const std::string& why, bool closed_by_peer) noexcept {
  if (is_down()) return;
  set_down(why, closed_by_peer);
  connection_.destroy_queue_pair();
  slots_.release_all([this](Request& request) {
    --request.progress.outstanding;
    if (request.progress.outstanding == 0 && !is_listed(request)) give_back(request);
  });
  for (RequestList* list : {&unacknowledged_, &pending_}) {
    while (!list->empty()) give_back(list->pop());
  }
}

}  // namespace rdmablk::initiator
