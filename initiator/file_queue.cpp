#include "initiator/file_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "common/verbs/context.h"
#include "initiator/image_range.h"
#include "initiator/refusal.h"

namespace rdmablk::initiator {

using protocol::IoRequest;
using protocol::MessageType;
using protocol::Status;

namespace {

/// A command has a SEND, and a WRITE before it or a READ after it.
constexpr unsigned kSendsPerCommand = 2;

/// Bytes of data that commands wait for.
constexpr std::uint64_t kMaxBatchBytes = 64U << 10U;

verbs::QueuePairOptions queue_pair_options(const FileQueueOptions& options) {
  verbs::QueuePairOptions result;
  result.send_requests = kSendsPerCommand * std::min(options.depth, options.granted);
  result.receive_requests = options.granted;
  result.inline_bytes = protocol::kShortMessage;
  return result;
}

bool has_data(const Request& request) {
  return request.operation == Operation::read || request.operation == Operation::write;
}

std::uint32_t durability(const Request& request) {
  return request.durable ? IoRequest::kDurable : 0;
}

}  // namespace

FileQueue::FileQueue(ControlLoop& loop, Way way, FileQueueOptions options,
                     std::span<const std::byte> private_data,
                     ControlLoop::Clock::time_point deadline)
    : ConnectedQueue(std::move(way.use)),
      options_(std::move(options)),
      connection_(std::move(way.link), device().domain(), queue_pair_options(options_)),
      channel_(device().domain(), options_.granted),
      in_order_(!verbs::is_iwarp(device().context())),
      posted_(queue_pair_options(options_).send_requests) {
  channel_.start(connection_.queue_pair());
  connection_.connect(private_data, deadline);
  slots_ = channel_.open(loop, connection_.idle(), deadline);
  check(slots_);
  slots_.max_io = std::min(slots_.max_io, options_.max_piece);
  pieces_.resize(std::min(options_.depth, slots_.commands));
  for (unsigned slot = 0; slot < pieces_.size(); ++slot) free_.push_back(slot);
}

void FileQueue::check(const protocol::QueueReply& reply) const {
  const bool fits = std::uint64_t{reply.max_io} + reply.alignment - 1 <= reply.stride;
  if (reply.commands > channel_.commands() || reply.max_io == 0 || !fits) {
    throw Error(fmt::format("cannot use {}: the target's slots make no sense", options_.name));
  }
}

void FileQueue::submit(Request& request) noexcept {
  request.error = 0;
  request.progress.restart();
  const bool is_flush = request.operation == Operation::flush;
  if (is_down()) {
    request.error = kUndone;
    done_.push(request);
  } else if (is_flush ? options_.flush_is_free : request.length == 0) {
    done_.push(request);
  } else if (!is_within(request, options_.size)) [[unlikely]] {
    request.error = error_past_end(request);
    done_.push(request);
  } else {
    pending_.push(request);
  }
}

std::size_t FileQueue::poll(std::span<Request*> done) noexcept {
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

/// What waits here ends with an error, also in part: add_next() goes by that.
void FileQueue::resize(std::unique_ptr<QueueResize> to) noexcept {
  options_.size = to->size;
  ConnectedQueue::resize(std::move(to));
  for (Request* at = pending_.front(); at != nullptr; at = at->progress.next) {
    if (at->error == 0 && !is_within(*at, options_.size)) at->error = error_past_end(*at);
  }
}

std::unique_ptr<QueueResize> FileQueue::take_resized() noexcept {
  const bool is_through =
      resizing() != nullptr &&
      std::ranges::none_of(pieces_, [this](const Piece& piece) { return reaches_past_end(piece); });
  return is_through ? ConnectedQueue::take_resized() : nullptr;
}

/// Whether the target works on it past the end that it will have, or has.
bool FileQueue::reaches_past_end(const Piece& piece) const noexcept {
  if (piece.request == nullptr) return false;
  const Request& request = *piece.request;
  const std::uint64_t end = has_data(request) ? request.offset + piece.start + piece.length
                                              : request.offset + request.length;
  return end > options_.size;
}

/// Whether all of a request has been made into commands, so that it is in no list.
bool FileQueue::is_whole(const Request& request) const noexcept {
  return !has_data(request) || request.progress.posted == request.length;
}

void FileQueue::post_pending() noexcept {
  while (!is_down() && !pending_.empty() && !free_.empty()) {
    Batch batch;
    while (batch.has_room() && !pending_.empty() && !free_.empty()) add_next(batch);
    batch.data.append(batch.commands);
    post(batch.data);
  }
}

/// Also whether the commands need not wait for more data.
bool FileQueue::Batch::has_room() const noexcept {
  return data.size() + commands.size() + kSendsPerCommand <= SendBatch::kCapacity &&
         bytes < kMaxBatchBytes;
}

void FileQueue::post(SendBatch& batch) noexcept {
  verbs::QueuePair& qp = connection_.queue_pair();
  const int error = in_order_ ? batch.post_quietly(qp, posted_) : batch.post(qp);
  if (error != 0) {
    go_down(fmt::format("cannot post to its queue pair: {}", errno_text(error)));
  }
}

/// Makes a command of the first request that waits, or of as much of it as fits a slot.
void FileQueue::add_next(Batch& batch) noexcept {
  Request& request = *pending_.front();
  if (request.error != 0) {  // of an earlier piece: the rest is not worth trying
    pending_.pop();
    request.progress.posted = request.length;
    if (request.progress.outstanding == 0) end(request);
    return;
  }
  const unsigned slot = free_.back();
  free_.pop_back();
  pieces_[slot] = {.request = &request, .start = request.progress.posted};
  if (request.progress.posted == 0) note_post(request, batch.time);
  ++request.progress.outstanding;
  if (has_data(request)) {
    add_data_command(batch, slot, request);
  } else {
    add_plain_command(batch.commands, slot, request);
  }
  if (is_whole(request)) pending_.pop();
}

void FileQueue::add_data_command(Batch& batch, unsigned slot, Request& request) noexcept {
  Piece& piece = pieces_[slot];
  const std::uint64_t offset = request.offset + piece.start;
  // What follows is aligned then, so that the target need not read and write an edge twice.
  const auto within = static_cast<std::uint32_t>(offset % slots_.alignment);
  const std::uint32_t most = slots_.max_io > within ? slots_.max_io - within : slots_.max_io;
  piece.length =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(request.length - piece.start, most));
  request.progress.posted += piece.length;
  IoRequest command{.offset = offset, .length = piece.length};
  if (request.operation == Operation::read) {
    channel_.add(batch.commands, slot, MessageType::read, command);
    return;
  }
  command.flags = durability(request);
  // The SEND behind it, or a later one, tells when it has completed.
  add_transfer(batch.data, IBV_WR_RDMA_WRITE, slot).send_flags = 0;
  batch.bytes += piece.length;
  channel_.add(batch.commands, slot, MessageType::write, command);
}

void FileQueue::add_plain_command(SendBatch& batch, unsigned slot, Request& request) noexcept {
  IoRequest command{.offset = request.offset, .length = request.length};
  MessageType type = MessageType::zero;
  switch (request.operation) {
    case Operation::map:
      type = MessageType::map;
      command.count = std::min<std::uint32_t>(request.extents, protocol::kMaxExtents);
      break;
    case Operation::zero:
      command.flags = durability(request);
      break;
    case Operation::discard:
      command.flags = durability(request) | (options_.can_discard ? IoRequest::kDiscard : 0);
      break;
    default:
      type = MessageType::flush;
      command = {};
      request.progress.posted = options_.ledger->begin_flush();
  }
  channel_.add(batch, slot, type, command);
}

/// A WRITE to a slot of the target, or a READ from it, of the piece that the slot is taken for.
ibv_send_wr& FileQueue::add_transfer(SendBatch& batch, ibv_wr_opcode opcode,
                                     unsigned slot) noexcept {
  const Piece& piece = pieces_[slot];
  const Request& request = *piece.request;
  ibv_send_wr& work =
      batch.add(opcode, {reinterpret_cast<std::uintptr_t>(request.data) + piece.start, piece.length,
                         lkey_on(device().number(), request)});
  work.wr_id = slot;
  work.wr.rdma.remote_addr = slots_.address + std::uint64_t{slot} * slots_.stride +
                             (request.offset + piece.start) % slots_.alignment;
  work.wr.rdma.rkey = slots_.rkey;
  return work;
}

void FileQueue::reap() noexcept {
  std::array<ibv_wc, 32> completions;
  while (const std::size_t count = connection_.completion_queue().poll(completions)) {
    for (const ibv_wc& completion : std::span(completions).first(count)) {
      complete(completion);
      if (is_down()) return;
    }
    if (count < completions.size()) break;
  }
  post(reads_);
}

void FileQueue::complete(const ibv_wc& completion) noexcept {
  // In order on one queue pair: all that follows has failed too.
  if (completion.status != IBV_WC_SUCCESS) {
    if (!CommandChannel::owns(completion) && completion.wr_id < pieces_.size() &&
        pieces_[completion.wr_id].request != nullptr) {
      note_refusal(*pieces_[completion.wr_id].request, completion.status);
    }
    return go_down(verbs::describe(completion));
  }
  if (CommandChannel::is_receive(completion)) {
    if (reads_.room() == 0) post(reads_);
    if (is_down()) return;
    if (const char* why = channel_.complete(completion, *this)) go_down(why);
    return;
  }
  if (!in_order_) return sent(completion.wr_id);
  const auto visit = [this](std::uint64_t wr_id) { sent(wr_id); };
  if (!posted_.complete(completion.wr_id, visit)) go_down(verbs::kUnknownCompletion);
}

/// A SEND, WRITE or READ has completed.
void FileQueue::sent(std::uint64_t wr_id) noexcept {
  if (CommandChannel::owns(wr_id)) return channel_.sent(wr_id, *this);
  const auto slot = static_cast<unsigned>(wr_id);
  pieces_[slot].is_reading = false;
  if (channel_.is_free(slot)) end_piece(slot);
}

bool FileQueue::on_reply(unsigned slot, Status status,
                         std::span<const std::byte> payload) noexcept {
  Piece& piece = pieces_[slot];
  Request& request = *piece.request;
  const int error = protocol::errno_of_status(status);
  if (error != 0) {
    if (request.error == 0) request.error = error;
  } else if (request.operation == Operation::map) {
    return take_map(request, payload);
  } else if (request.operation == Operation::read) {
    piece.is_reading = true;
    add_transfer(reads_, IBV_WR_RDMA_READ, slot);
  }
  return true;
}

bool FileQueue::take_map(Request& request, std::span<const std::byte> payload) noexcept {
  const std::size_t room = std::min<std::size_t>(request.extents, protocol::kMaxExtents);
  const std::span<protocol::Extent> extents(new (request.data) protocol::Extent[room], room);
  const auto count = protocol::decode_extents(payload, extents);
  if (!count || *count == 0) return false;
  std::uint64_t left = request.length;
  request.extents = 0;
  for (protocol::Extent& extent : extents.first(*count)) {
    if (left == 0) break;
    extent.length = std::min(extent.length, left);
    left -= extent.length;
    ++request.extents;
  }
  return true;
}

void FileQueue::on_free(unsigned slot) noexcept {
  if (!is_down() && !pieces_[slot].is_reading) end_piece(slot);
}

void FileQueue::end_piece(unsigned slot) noexcept {
  Request& request = *pieces_[slot].request;
  pieces_[slot].request = nullptr;
  free_.push_back(slot);
  --request.progress.outstanding;
  if (request.progress.outstanding == 0 && is_whole(request)) end(request);
}

/// Returns a request that has ended, in whatever way.
void FileQueue::end(Request& request) noexcept {
  if (request.error == 0) {
    if (request.operation == Operation::flush) {
      options_.ledger->end_flush(request.progress.posted);
    } else if (changes_data(request) && !request.durable) {
      options_.ledger->note_write();
    }
  }
  done_.push(request);
}

/// Also when it is down already: what the descriptor tells must be taken, or nobody sleeps any
/// more.
void FileQueue::notice_loss() noexcept {
  if (connection_.take_loss()) go_down(connection_.failure(), connection_.was_closed_by_peer());
}

void FileQueue::go_down(const std::string& why, bool closed_by_peer) noexcept {
  if (is_down()) return;
  set_down(why, closed_by_peer);
  connection_.destroy_queue_pair();
  posted_.forget();
  for (unsigned slot = 0; slot < pieces_.size(); ++slot) {
    Request* const request = pieces_[slot].request;
    if (request == nullptr) continue;
    // Of a change that failed in part, the target may still do the rest: it is to be fenced, too.
    const bool may_be_done = changes_data(*request) && !was_refused(*request);
    if (request->error == 0 || may_be_done) request->error = kUndone;
    end_piece(slot);
  }
  while (!pending_.empty()) {
    Request& request = pending_.pop();
    if (request.error == 0) request.error = kUndone;
    end(request);
  }
}

}  // namespace rdmablk::initiator
