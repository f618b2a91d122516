#include "initiator/copy/disk_queue.h"

#include <fcntl.h>
#include <linux/falloc.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "initiator/copy/file_map.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;
using initiator::Request;

/// The most that one operation of the kernel is asked for, in bytes.
constexpr std::uint64_t kMaxOperation = std::uint64_t{1} << 30U;

/// How zeroes get there, from the best way on (Request::Progress::refusals counts those that were
/// refused).
enum Zeroing : unsigned { kPunch, kZeroRange, kWrite };

constexpr std::array<std::byte, 65536> kZeroes{};

bool zeroes(const Request& request) {
  return request.operation == Operation::zero || request.operation == Operation::discard;
}

bool is_fallocated(const Request& request) {
  return zeroes(request) && request.progress.refusals < kWrite;
}

/// The file system has no such operation, or not for this range.
bool is_refusal(int error) {
  return error == EOPNOTSUPP || error == EINVAL || error == ENODEV || error == ENOSYS;
}

}  // namespace

void DiskQueue::submit(Request& request) noexcept {
  request.error = 0;
  request.progress.restart();
  request.progress.refusals = request.operation == Operation::discard ? kPunch : kZeroRange;
  waiting_.push(request);
}

void DiskQueue::kick() noexcept {
  while (!waiting_.empty() && under_way_ < depth_) {
    Request& request = waiting_.pop();
    if (request.operation == Operation::map) {
      end(request, map_file(fd_, request));
    } else if (request.operation != Operation::flush && request.length == 0) {
      end(request, 0);
    } else {
      start(request);
    }
  }
  ring_.submit();
}

std::size_t DiskQueue::poll(std::span<Request*> done) noexcept {
  ring_.reap([this](void* data, int result) {
    --under_way_;
    on_ended(*static_cast<Request*>(data), result);
  });
  kick();
  std::size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

/// Has the kernel do what is left of a request.
void DiskQueue::start(Request& request) noexcept {
  io_uring_sqe& entry = *ring_.next_entry();
  const std::uint64_t at = request.progress.posted;
  const auto length = static_cast<unsigned>(std::min(request.length - at, kMaxOperation));
  if (request.operation == Operation::flush) {
    io_uring_prep_fsync(&entry, fd_, IORING_FSYNC_DATASYNC);
  } else if (request.operation == Operation::read) {
    io_uring_prep_read(&entry, fd_, request.data + at, length, request.offset + at);
  } else if (request.operation == Operation::write) {
    io_uring_prep_write(&entry, fd_, request.data + at, length, request.offset + at);
  } else {
    start_zeroing(request, entry);
  }
  io_uring_sqe_set_data(&entry, &request);
  ++under_way_;
}

void DiskQueue::start_zeroing(Request& request, io_uring_sqe& entry) noexcept {
  const std::uint64_t offset = request.offset + request.progress.posted;
  const std::uint64_t length = request.length - request.progress.posted;
  const auto offset_of_file = static_cast<off_t>(offset);
  if (request.progress.refusals == kPunch) {
    io_uring_prep_fallocate(&entry, fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_of_file,
                            static_cast<off_t>(length));
  } else if (request.progress.refusals == kZeroRange) {
    io_uring_prep_fallocate(&entry, fd_, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, offset_of_file,
                            static_cast<off_t>(length));
  } else {
    const std::uint64_t count = std::min<std::uint64_t>(length, kZeroes.size());
    io_uring_prep_write(&entry, fd_, kZeroes.data(), static_cast<unsigned>(count), offset);
  }
}

void DiskQueue::on_ended(Request& request, int result) noexcept {
  if (result == -EINTR || result == -EAGAIN) return start(request);
  if (result < 0 && is_fallocated(request) && is_refusal(-result)) {
    ++request.progress.refusals;
    return start(request);
  }
  if (result < 0) return end(request, -result);
  if (request.operation == Operation::flush || is_fallocated(request)) return end(request, 0);
  // A file that became shorter meanwhile has no more to read.
  if (result == 0) return end(request, request.operation == Operation::read ? ENODATA : EIO);
  request.progress.posted += static_cast<unsigned>(result);
  if (request.progress.posted < request.length) return start(request);
  end(request, 0);
}

void DiskQueue::end(Request& request, int error) noexcept {
  request.error = error;
  done_.push(request);
}

}  // namespace rdmablk::copy
