#include "tests/faults/checker_worker.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

namespace rdmablk::faults {
namespace {

using initiator::Operation;
using initiator::Request;

/// How long a queue that fails is left alone before it is tried again.
constexpr std::chrono::milliseconds kPause{5};
/// How often a worker that waits looks whether it is to end.
constexpr int kLookMs = 200;

}  // namespace

CheckerWorker::CheckerWorker(const SharedHistory& history, Lane& lane,
                             const CheckerOptions& options, CheckerProgress& progress)
    : history_(history),
      options_(options),
      progress_(progress),
      lane_(history, lane, options.depth),
      random_(options.seed * 1000003 + history.index_of(lane)),
      requests_(options.depth),
      submitted_(options.depth),
      ended_(options.depth) {}

void CheckerWorker::attach(initiator::Image& image, Time attaching) {
  buffers_ = image.make_buffers(options_.depth * history_.shape().block_words * sizeof(Tag));
  queue_ = image.make_queue(options_.depth);
  idle_.resize(options_.depth);
  std::iota(idle_.begin(), idle_.end(), 0U);
  lane_.renew(attaching, options_.take_over);
  new_session_ = true;
  fails_ = false;
}

void CheckerWorker::detach() noexcept {
  queue_.reset();
  buffers_.reset();
}

void CheckerWorker::run() noexcept {
  while (goes_on() || idle_.size() < requests_.size()) {
    if (fails_) std::this_thread::sleep_for(kPause);
    // A queue that fails is tried with one request.
    const std::size_t leave = fails_ ? requests_.size() - 1 : 0;
    while (goes_on() && idle_.size() > leave) {
      const unsigned number = idle_.back();
      idle_.pop_back();
      submit(number);
    }
    queue_->kick();
    const std::size_t count = wait();
    for (std::size_t i = 0; i < count; ++i) complete(*ended_[i]);
  }
}

bool CheckerWorker::goes_on() noexcept {
  if (progress_.stop.load(std::memory_order_relaxed) || history_.stopped()) return false;
  return !progress_.renew.load(std::memory_order_relaxed);
}

void CheckerWorker::submit(unsigned number) noexcept {
  const std::uint64_t count = progress_.operations.fetch_add(1) + 1;
  if (options_.operations != 0 && count >= options_.operations) progress_.stop = true;
  submitted_[number] = submissions_++;
  Request& request = requests_[number];
  request = {};
  const std::span<Tag> memory = words(number);
  request.data = reinterpret_cast<std::byte*>(memory.data());
  request.keys = buffers_->keys();
  if (options_.flush_every != 0 && random_() % options_.flush_every == 0) {
    request.operation = Operation::flush;
    lane_.begin_read(number, {});
    return queue_->submit(request);
  }
  Target target;
  choose(target);
  request.offset = history_.shape().offset + target.word * sizeof(Tag);
  request.length = target.count * sizeof(Tag);
  if (random_() % 100 < options_.read_percent) {
    request.operation = Operation::read;
    std::fill(memory.begin(), memory.end(), ~Tag{0});
    lane_.begin_read(number, target);
  } else {
    request.operation = Operation::write;
    const Tag tag = lane_.begin_write(number, target);
    std::fill_n(memory.begin(), target.count, tag);
  }
  queue_->submit(request);
}

/// A whole block, one word of it, or some in a row.
void CheckerWorker::choose(Target& target) noexcept {
  const Shape& shape = history_.shape();
  const auto block = static_cast<std::uint32_t>(random_() % shape.blocks);
  const auto first = static_cast<std::uint32_t>(random_() % shape.block_words);
  target = {block * shape.block_words, shape.block_words};
  switch (random_() % 3) {
    case 0:
      return;
    case 1:
      target = {target.word + first, 1};
      return;
    default:
      target = {target.word + first,
                1 + static_cast<std::uint32_t>(random_() % (shape.block_words - first))};
  }
}

std::size_t CheckerWorker::wait() noexcept {
  std::size_t count = queue_->poll(ended_);
  if (count > 0 || idle_.size() == requests_.size()) return count;
  queue_->arm();
  count = queue_->poll(ended_);
  if (count > 0) return count;
  pollfd waiting{queue_->fd(), POLLIN, 0};
  ::poll(&waiting, 1, kLookMs);
  return queue_->poll(ended_);
}

void CheckerWorker::complete(Request& request) noexcept {
  const auto number = static_cast<unsigned>(&request - requests_.data());
  const bool succeeded = request.error == 0;
  if (!succeeded) {
    lane_.fail(number);
  } else if (request.operation == Operation::write) {
    lane_.end_write(number);
  } else {
    lane_.end_read(number, words(number));
  }
  idle_.push_back(number);
  if (!succeeded) return note_failure();
  if (!fails_ || submitted_[number] >= failed_at_) note_success();
}

void CheckerWorker::note_failure() noexcept {
  if (!fails_) fails_since_ = Clock::now();
  fails_ = true;
  failed_at_ = submissions_;
  if (Clock::now() - fails_since_ >= options_.patience) progress_.renew = true;
}

/// Something that was submitted after the last failure has succeeded: the queue has been connected
/// anew, which fences what was there before.
void CheckerWorker::note_success() noexcept {
  if (new_session_ && options_.fenced) lane_.settle(true);
  if (fails_) {
    lane_.settle(false);
    ++lane_.lane().recoveries;
  }
  new_session_ = false;
  fails_ = false;
}

std::span<Tag> CheckerWorker::words(unsigned number) noexcept {
  const std::size_t count = history_.shape().block_words;
  return {reinterpret_cast<Tag*>(buffers_->bytes().data()) + number * count, count};
}

}  // namespace rdmablk::faults
