#include "target/io_uring.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "common/error.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::target {
namespace {

constexpr unsigned kSubmissionEntries = 256;
constexpr unsigned kCompletionEntries = 4096;

/// The rest of the completion queue is for watches: it must never overflow, since what overflows
/// needs memory that the kernel may not have.
constexpr unsigned kMaxInKernel = kCompletionEntries * 3 / 4;

/// Bytes; newer kernels count them as locked memory.
constexpr std::uint64_t kRingSize = kSubmissionEntries * (sizeof(io_uring_sqe) + sizeof(unsigned)) +
                                    kCompletionEntries * sizeof(io_uring_cqe) + 4096;

// What a completion is of: an operation (its address, which is even), a watch (its slot, shifted,
// odd), or a request to end a watch (nobody waits for it).
constexpr std::uint64_t kNobody = 0;

std::uint64_t tag(const RingOperation& operation) {
  return reinterpret_cast<std::uintptr_t>(&operation);
}
std::uint64_t tag(std::size_t slot) {
  return (std::uint64_t{slot} << 1) | 1;
}
bool is_watch(std::uint64_t data) {
  return (data & 1) != 0;
}

void describe(io_uring_sqe* entry, const RingOperation& operation) {
  const int file = static_cast<int>(operation.file);
  const auto length = static_cast<unsigned>(operation.length);
  const bool fixed = operation.buffer != RingOperation::kNoBuffer;
  const int buffer = static_cast<int>(operation.buffer);
  switch (operation.kind) {
    case RingOperation::Kind::read:
      if (fixed) {
        io_uring_prep_read_fixed(entry, file, operation.data, length, operation.offset, buffer);
      } else {
        io_uring_prep_read(entry, file, operation.data, length, operation.offset);
      }
      break;
    case RingOperation::Kind::write:
      if (fixed) {
        io_uring_prep_write_fixed(entry, file, operation.data, length, operation.offset, buffer);
      } else {
        io_uring_prep_write(entry, file, operation.data, length, operation.offset);
      }
      if (operation.durable) entry->rw_flags = RWF_DSYNC;
      break;
    case RingOperation::Kind::sync:
      io_uring_prep_fsync(entry, file, IORING_FSYNC_DATASYNC);
      break;
    case RingOperation::Kind::allocate:
      io_uring_prep_fallocate(entry, file, operation.mode, static_cast<off_t>(operation.offset),
                              static_cast<off_t>(operation.length));
      break;
  }
  entry->flags |= IOSQE_FIXED_FILE;
  io_uring_sqe_set_data64(entry, tag(operation));
}

/// @param needed bytes that are to be locked.
void check(const std::string& doing, int result, std::uint64_t needed = 0) {
  if (result >= 0) return;
  if (result == -ENOMEM && needed > 0 && verbs::memlock_limit() != UINT64_MAX) {
    throw verbs::MemlockError(doing, needed);
  }
  throw SystemError(doing, -result);
}

}  // namespace

IoUring::Handle::Handle() {
  io_uring_params params{};
  // The thread enters the kernel often enough by itself: no interrupt has to tell it of
  // completions.
  params.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN |
                 IORING_SETUP_TASKRUN_FLAG;
  params.cq_entries = kCompletionEntries;
  check("set up an io_uring (takes Linux 5.19, and sysctl kernel.io_uring_disabled=0)",
        io_uring_queue_init_params(kSubmissionEntries, &ring, &params), kRingSize);
}

IoUring::IoUring(std::span<const int> files, unsigned buffers) {
  if (!files.empty()) {
    check(
        "register files with an io_uring",
        io_uring_register_files(&handle_.ring, files.data(), static_cast<unsigned>(files.size())));
  }
  if (buffers == 0) return;
  check("make room for buffers in an io_uring",
        io_uring_register_buffers_sparse(&handle_.ring, buffers));
  free_buffers_.resize(buffers);
  std::generate(free_buffers_.begin(), free_buffers_.end(), [&] { return --buffers; });
}

IoUring::~IoUring() {
  while (in_flight() > 0) run(true);
}

int IoUring::update_file(unsigned number, int fd) noexcept {
  const int result = io_uring_register_files_update(&handle_.ring, number, &fd, 1);
  return result < 0 ? -result : 0;
}

unsigned IoUring::register_buffer(std::span<std::byte> memory) {
  const std::string doing =
      fmt::format("register {} of memory with an io_uring", format_size(memory.size()));
  if (free_buffers_.empty()) throw SystemError(doing, ENOSPC);
  const unsigned number = free_buffers_.back();
  const iovec where{memory.data(), memory.size()};
  check(doing, io_uring_register_buffers_update_tag(&handle_.ring, number, &where, nullptr, 1),
        memory.size());
  free_buffers_.pop_back();
  return number;
}

unsigned IoUring::try_register_buffer(std::span<std::byte> memory) noexcept {
  if (memory.empty()) return RingOperation::kNoBuffer;
  try {
    return register_buffer(memory);
  } catch (const std::exception& error) {
    spdlog::debug("{}; going on without", error.what());
    return RingOperation::kNoBuffer;
  }
}

void IoUring::unregister_buffer(unsigned number) noexcept {
  if (number == RingOperation::kNoBuffer) return;
  const iovec nothing{nullptr, 0};
  io_uring_register_buffers_update_tag(&handle_.ring, number, &nothing, nullptr, 1);
  free_buffers_.push_back(number);  // no allocation: there was room for it
}

void IoUring::submit(RingOperation& operation) noexcept {
  if (!waiting_.empty() || !start(operation)) waiting_.push_back(operation);
}

/// @return null when the kernel takes no more now.
io_uring_sqe* IoUring::next_entry() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&handle_.ring);
  if (entry == nullptr && io_uring_submit(&handle_.ring) > 0) {
    entry = io_uring_get_sqe(&handle_.ring);
  }
  return entry;
}

bool IoUring::start(const RingOperation& operation) noexcept {
  if (in_kernel_ >= kMaxInKernel) return false;
  io_uring_sqe* entry = next_entry();
  if (entry == nullptr) return false;
  describe(entry, operation);
  ++in_kernel_;
  return true;
}

void IoUring::start_waiting() noexcept {
  while (!waiting_.empty() && start(waiting_.front())) waiting_.pop_front();
}

void IoUring::watch(int fd, ReadableHandler& handler) {
  const auto is_free = [](const Watch& watch) { return watch.handler == nullptr && !watch.armed; };
  auto slot = std::find_if(watches_.begin(), watches_.end(), is_free);
  if (slot == watches_.end()) slot = watches_.emplace(slot);
  *slot = Watch{.fd = fd, .handler = &handler, .armed = false, .due = true};
  update_watches();
}

void IoUring::unwatch(ReadableHandler& handler) noexcept {
  for (Watch& watch : watches_) {
    if (watch.handler != &handler) continue;
    watch.handler = nullptr;
    watch.due = watch.armed;
  }
  update_watches();
  io_uring_submit(&handle_.ring);  // the poll keeps the file open: end it now
}

void IoUring::update_watches() noexcept {
  watches_due_ = false;
  for (std::size_t slot = 0; slot < watches_.size(); ++slot) {
    if (watches_[slot].due && !update(watches_[slot], slot)) watches_due_ = true;
  }
}

bool IoUring::update(Watch& watch, std::size_t slot) noexcept {
  io_uring_sqe* entry = next_entry();
  if (entry == nullptr) return false;
  if (watch.handler != nullptr) {
    io_uring_prep_poll_multishot(entry, watch.fd, POLLIN);
    io_uring_sqe_set_data64(entry, tag(slot));
    watch.armed = true;
  } else {
    // Not IORING_OP_POLL_REMOVE: that fails (EALREADY) when the poll is just being woken up.
    io_uring_prep_cancel64(entry, tag(slot), 0);
    io_uring_sqe_set_data64(entry, kNobody);
  }
  watch.due = false;
  return true;
}

void IoUring::run(bool wait) {
  if (watches_due_) update_watches();
  start_waiting();
  enter(wait);
  dispatch();
}

/// Errors (EINTR, EAGAIN, EBUSY) leave what was not taken in the submission queue, for the next
/// time; what has ended meanwhile makes room.
void IoUring::enter(bool wait) noexcept {
  io_uring* ring = &handle_.ring;
  if (wait && io_uring_cq_ready(ring) == 0) {
    io_uring_submit_and_wait(ring, 1);
  } else if (io_uring_sq_ready(ring) > 0) {
    io_uring_submit_and_get_events(ring);
  }
}

/// Calls the handlers of what has ended by now; what they start and what ends at once is for the
/// next time, so that nobody starves.
void IoUring::dispatch() noexcept {
  io_uring_cqe* entry = nullptr;
  io_uring_peek_cqe(&handle_.ring, &entry);  // fetches what the kernel holds back
  for (unsigned left = io_uring_cq_ready(&handle_.ring); left > 0; --left) {
    if (io_uring_peek_cqe(&handle_.ring, &entry) != 0) return;
    const std::uint64_t data = io_uring_cqe_get_data64(entry);
    const int result = entry->res;
    const unsigned flags = entry->flags;
    io_uring_cqe_seen(&handle_.ring, entry);
    if (data == kNobody) continue;
    if (is_watch(data)) {
      on_polled(static_cast<std::size_t>(data >> 1), result, flags);
    } else {
      --in_kernel_;
      reinterpret_cast<RingOperation*>(data)->on_result(result);
    }
  }
}

void IoUring::on_polled(std::size_t slot, int result, unsigned flags) noexcept {
  Watch& watch = watches_[slot];
  if ((flags & IORING_CQE_F_MORE) == 0) {
    watch.armed = false;
    watch.due = watch.handler != nullptr;
    watches_due_ = watches_due_ || watch.due;
  }
  // The handler may add a watch, which moves the others: `watch` is not valid behind this call.
  if (watch.handler != nullptr && result > 0) watch.handler->on_readable();
}

}  // namespace rdmablk::target
