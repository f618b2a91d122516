#include "initiator/resident_queue.h"

#include <algorithm>
#include <utility>

namespace rdmablk::initiator {

using protocol::IoRequest;

namespace {

MemoryQueueOptions acknowledged_by_read(MemoryQueueOptions options) {
  options.acknowledges_by_read = true;
  return options;
}

}  // namespace

ResidentQueue::ResidentQueue(ControlLoop& loop, Way way, MemoryQueueOptions options,
                             ResidentState& state, std::span<const std::byte> private_data,
                             ControlLoop::Clock::time_point deadline)
    : ConnectedQueue(way.use),
      state_(state),
      channel_(device().domain(), protocol::kResidentCommands),
      data_(std::move(way), acknowledged_by_read(std::move(options)), private_data, deadline,
            CommandUse{channel_, *this}),
      member_(state.gate) {
  data_.connection().watch(member_.fd());
  channel_.open(loop, data_.connection().idle(), deadline);
}

ResidentQueue::~ResidentQueue() {
  if (is_flushing_) state_.dirty.restore();  // for whoever flushes next
}

void ResidentQueue::submit(Request& request) noexcept {
  if (request.operation == Operation::flush && !data_.is_down()) {
    request.error = 0;
    request.progress.restart();
    unasked_.push(request);
    return;
  }
  if (changes_data(request)) state_.dirty.mark(request.offset, request.length);
  data_.submit(request);
}

void ResidentQueue::kick() noexcept {
  data_.kick();
  advance_flushes();
}

void ResidentQueue::arm() noexcept {
  data_.arm();
  member_.drain();
}

/// The map of what is to be flushed is cut already.
void ResidentQueue::resize(std::unique_ptr<QueueResize> to) noexcept {
  has_old_page_ = is_flushing_;
  data_.resize(std::move(to));
}

std::unique_ptr<QueueResize> ResidentQueue::take_resized() noexcept {
  return has_old_page_ ? nullptr : data_.take_resized();
}

bool ResidentQueue::is_idle() const noexcept {
  return data_.is_idle() && !is_flushing_ && unasked_.empty() && done_.empty() &&
         std::ranges::all_of(asked_, [](const RequestList& list) { return list.empty(); });
}

std::size_t ResidentQueue::poll(std::span<Request*> done) noexcept {
  std::size_t count = take_data(done);
  advance_flushes();
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

/// Takes what the data path has finished. Durable writes go on as flushes. The last thing is to
/// look, without room if need be, whether the connection has been ended: who ended it and saw no
/// mark must not find the write acknowledged.
std::size_t ResidentQueue::take_data(std::span<Request*> done) noexcept {
  std::size_t kept = 0;
  while (true) {
    const auto room = done.subspan(kept);
    const std::size_t count = data_.poll(room);
    if (count == 0) return kept;
    for (Request* const request : room.first(count)) {
      const bool changes = changes_data(*request);
      // A flush may have taken its snapshot since it was submitted.
      if (changes) state_.dirty.mark(request->offset, request->length);
      if (changes && request->durable && request->error == 0) {
        unasked_.push(*request);
      } else {
        done[kept++] = request;
      }
    }
  }
}

void ResidentQueue::advance_flushes() noexcept {
  if (data_.is_down()) return give_up_flushes();
  const bool has_news = member_.has_news();
  if (has_news) collect();
  const bool asks = !unasked_.empty();
  while (!unasked_.empty()) {
    const auto number = member_.ask();
    if (!number) {
      collect();
      continue;
    }
    while (!unasked_.empty()) asked_[*number % 2].push(unasked_.pop());
  }
  if ((has_news || asks) && member_.begin()) start_flush();
}

/// Ends what asked for flushes that have ended.
void ResidentQueue::collect() noexcept {
  while (const auto result = member_.take()) {
    RequestList& list = asked_[result->number % 2];
    while (!list.empty()) {
      list.front()->error = result->error;
      done_.push(list.pop());
    }
  }
}

void ResidentQueue::start_flush() noexcept {
  is_flushing_ = true;
  flush_error_ = 0;
  next_range_ = 0;
  state_.dirty.take();
  send_page();
}

void ResidentQueue::Page::encode(protocol::WireWriter& writer) const {
  IoRequest request;
  request.flags = has_more ? IoRequest::kMore : 0;
  request.count = count;
  request.encode(writer);
  for (const protocol::Range& range : std::span(ranges).first(count)) range.encode(writer);
}

void ResidentQueue::send_page() noexcept {
  page_.count = 0;
  auto range = state_.dirty.next(next_range_);
  while (range && page_.count < page_.ranges.size()) {
    page_.ranges[page_.count++] = *range;
    next_range_ = range->offset + range->length;
    range = state_.dirty.next(next_range_);
  }
  page_.has_more = range.has_value();
  SendBatch batch;
  channel_.add(batch, kSlot, protocol::MessageType::flush, page_);
  data_.post(batch);
}

bool ResidentQueue::on_reply(unsigned /*slot*/, protocol::Status status,
                             std::span<const std::byte> /*payload*/) noexcept {
  flush_error_ = protocol::errno_of_status(status);
  return true;
}

void ResidentQueue::on_free(unsigned /*slot*/) noexcept {
  has_old_page_ = false;
  if (flush_error_ == 0 && page_.has_more) {
    send_page();
  } else {
    end_flush();
  }
}

void ResidentQueue::end_flush() noexcept {
  is_flushing_ = false;
  if (flush_error_ != 0) state_.dirty.restore();
  member_.end(flush_error_);
}

/// When the queue is down: another one flushes for those who counted on this one, and what asked
/// here asks again on the next connection.
void ResidentQueue::give_up_flushes() noexcept {
  if (!is_down()) set_down(data_.failure(), data_.was_closed_by_peer());
  if (is_flushing_) state_.dirty.restore();
  is_flushing_ = false;
  collect();
  member_.leave();
  give_back(unasked_);
  for (RequestList& list : asked_) give_back(list);
}

void ResidentQueue::give_back(RequestList& list) noexcept {
  while (!list.empty()) {
    list.front()->error = kUndone;
    done_.push(list.pop());
  }
}

}  // namespace rdmablk::initiator
