#include "initiator/copy/stream_queue.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace rdmablk::copy {
namespace {

using initiator::Operation;
using initiator::Request;

constexpr std::array<std::byte, 65536> kZeroBytes{};

/// Where there is none: at the stream's own position.
constexpr std::uint64_t kNoOffset = UINT64_MAX;

}  // namespace

StreamQueue::StreamQueue(int fd, unsigned depth) : fd_(fd), ring_(4) {
  waiting_.reserve(depth);
}

void StreamQueue::submit(Request& request) noexcept {
  request.error = 0;
  request.progress.restart();
  if (request.operation == Operation::flush) {  // what was acknowledged is the reader's
    done_.push(request);
  } else {
    waiting_.push_back(&request);
  }
}

void StreamQueue::kick() noexcept {
  if (current_ == nullptr) {
    current_ = next();
    if (current_ != nullptr) start();
  }
  ring_.submit();
}

Request* StreamQueue::next() const noexcept {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [this](const Request* other) {
    return is_over_ || other->offset == position_;
  });
  return found == waiting_.end() ? nullptr : *found;
}

void StreamQueue::start() noexcept {
  Request& request = *current_;
  if (is_over_) return end(0);
  io_uring_sqe* const entry = ring_.next_entry();
  const std::uint64_t at = request.progress.posted;
  const auto length =
      static_cast<unsigned>(std::min<std::uint64_t>(request.length - at, std::uint64_t{1} << 30U));
  if (request.operation == Operation::read) {
    io_uring_prep_read(entry, fd_, request.data + at, length, kNoOffset);
  } else if (request.operation == Operation::write) {
    io_uring_prep_write(entry, fd_, request.data + at, length, kNoOffset);
  } else {
    const auto count = std::min<std::size_t>(length, kZeroBytes.size());
    io_uring_prep_write(entry, fd_, kZeroBytes.data(), static_cast<unsigned>(count), kNoOffset);
  }
  io_uring_sqe_set_data(entry, current_);
}

/// The descriptor does not block: somebody else shares it and wants it so.
void StreamQueue::wait_for_room() noexcept {
  io_uring_sqe* const entry = ring_.next_entry();
  io_uring_prep_poll_add(entry, fd_, current_->operation == Operation::read ? POLLIN : POLLOUT);
  io_uring_sqe_set_data(entry, current_);
  is_waiting_for_room_ = true;
}

std::size_t StreamQueue::poll(std::span<Request*> done) noexcept {
  ring_.reap([this](const void* data, int result) {
    if (data != nullptr) on_ended(result);  // else it is the cancelling that has ended
  });
  kick();
  std::size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

bool StreamQueue::cancel(Request& request) noexcept {
  if (&request != current_) return std::erase(waiting_, &request) > 0;
  if (is_cancelled_) return false;
  is_cancelled_ = true;
  io_uring_sqe* const entry = ring_.next_entry();
  io_uring_prep_cancel(entry, current_, 0);
  io_uring_sqe_set_data(entry, nullptr);
  ring_.submit();
  return false;
}

void StreamQueue::on_ended(int result) noexcept {
  if (is_waiting_for_room_) {
    is_waiting_for_room_ = false;
    return result < 0 ? end(-result) : start();
  }
  if (is_cancelled_ && result < 0) return end(ECANCELED);
  if (result == -EINTR) return start();
  if (result == -EAGAIN) return wait_for_room();
  if (result < 0) return end(-result);
  Request& request = *current_;
  request.progress.posted += static_cast<unsigned>(result);
  position_ += static_cast<unsigned>(result);
  if (result == 0 && request.operation != Operation::read) return end(EIO);
  is_over_ = result == 0;
  if (!is_over_ && request.progress.posted < request.length) return start();
  end(0);
}

void StreamQueue::end(int error) noexcept {
  Request& request = *current_;
  request.error = error;
  if (is_over_) request.length = request.progress.posted;
  std::erase(waiting_, current_);
  current_ = nullptr;
  is_cancelled_ = false;
  done_.push(request);
  if (!is_over_) return;
  for (Request* const other : waiting_) {
    other->length = 0;
    done_.push(*other);
  }
  waiting_.clear();
}

}  // namespace rdmablk::copy
