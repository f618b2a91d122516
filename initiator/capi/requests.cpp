#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "initiator/capi/failure.h"
#include "initiator/capi/queue.h"

// The calls of rdmablk.h that name a queue.

using rdmablk::capi::fail;
using rdmablk::capi::Wish;
using rdmablk::initiator::Operation;

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kNoQueue = "the queue is NULL";
constexpr const char* kNoTime = "the time is not in the range that it may be in";

/// Makes a call of a queue, on behalf of the program.
template <typename Call>
auto with(rdmablk_queue* queue, Call call) -> decltype(call(*queue)) {
  if (queue == nullptr) return fail(EINVAL, kNoQueue);
  if (!queue->enter()) return fail(EINVAL, "another thread is in a call with this queue");
  const auto result = call(*queue);
  queue->leave();
  return result;
}

std::int64_t submit(rdmablk_queue* queue, const Wish& wish, rdmablk_memory* memory, void* user) {
  return with(queue, [&](rdmablk_queue& it) { return it.submit(wish, memory, user); });
}

int run(rdmablk_queue* queue, const Wish& wish) {
  return with(queue, [&](rdmablk_queue& it) { return it.run(wish); });
}

/// What is written is not changed, but Request has one pointer for both.
std::byte* bytes_of(const void* data) {
  return static_cast<std::byte*>(const_cast<void*>(data));
}

/// @param count as many as an int can tell of are taken.
std::span<rdmablk_completion> places(rdmablk_completion* completions, unsigned count) {
  return {completions, std::min<std::size_t>(count, std::numeric_limits<int>::max())};
}

}  // namespace

int64_t rdmablk_read(rdmablk_queue* queue, rdmablk_memory* memory, void* data, size_t length,
                     uint64_t offset, unsigned flags, void* user) {
  return submit(queue, {Operation::read, bytes_of(data), length, offset, flags}, memory, user);
}

int64_t rdmablk_write(rdmablk_queue* queue, rdmablk_memory* memory, const void* data, size_t length,
                      uint64_t offset, unsigned flags, void* user) {
  return submit(queue, {Operation::write, bytes_of(data), length, offset, flags}, memory, user);
}

int64_t rdmablk_zero(rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags,
                     void* user) {
  return submit(queue, {Operation::zero, nullptr, length, offset, flags}, nullptr, user);
}

int64_t rdmablk_discard(rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags,
                        void* user) {
  return submit(queue, {Operation::discard, nullptr, length, offset, flags}, nullptr, user);
}

int64_t rdmablk_flush(rdmablk_queue* queue, unsigned flags, void* user) {
  return submit(queue, {Operation::flush, nullptr, 0, 0, flags}, nullptr, user);
}

int rdmablk_pread(rdmablk_queue* queue, void* data, size_t length, uint64_t offset) {
  return run(queue, {Operation::read, bytes_of(data), length, offset});
}

int rdmablk_pwrite(rdmablk_queue* queue, const void* data, size_t length, uint64_t offset,
                   unsigned flags) {
  return run(queue, {Operation::write, bytes_of(data), length, offset, flags});
}

int rdmablk_pzero(rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags) {
  return run(queue, {Operation::zero, nullptr, length, offset, flags});
}

int rdmablk_pdiscard(rdmablk_queue* queue, uint64_t length, uint64_t offset, unsigned flags) {
  return run(queue, {Operation::discard, nullptr, length, offset, flags});
}

int rdmablk_sync(rdmablk_queue* queue) {
  return run(queue, {Operation::flush});
}

void rdmablk_kick(rdmablk_queue* queue) {
  with(queue, [](rdmablk_queue& it) { return it.kick(), 0; });
}

int rdmablk_queue_set_timeout_ms(rdmablk_queue* queue, int64_t milliseconds) {
  if (queue == nullptr) return fail(EINVAL, kNoQueue);
  if (milliseconds == RDMABLK_NEVER) {
    queue->set_timeout(Clock::duration::max());
  } else if (milliseconds >= 1 && milliseconds <= RDMABLK_MAX_MS) {
    queue->set_timeout(std::chrono::milliseconds(milliseconds));
  } else {
    return fail(EINVAL, kNoTime);
  }
  return 0;
}

int rdmablk_cancel(rdmablk_queue* queue, int64_t request) {
  return with(queue, [=](rdmablk_queue& it) { return it.cancel(request); });
}

int rdmablk_reap(rdmablk_queue* queue, rdmablk_completion* completions, unsigned count) {
  if (completions == nullptr || count == 0) {
    return fail(EINVAL, "there is no place for completions");
  }
  return with(queue, [&](rdmablk_queue& it) { return it.reap(places(completions, count)); });
}

int rdmablk_wait(rdmablk_queue* queue, rdmablk_completion* completions, unsigned count,
                 int64_t timeout_ms) {
  if (completions == nullptr || count == 0) {
    return fail(EINVAL, "there is no place for completions");
  }
  auto until = Clock::time_point::max();
  if (timeout_ms != RDMABLK_NEVER) {
    if (timeout_ms < 0 || timeout_ms > RDMABLK_MAX_MS) return fail(EINVAL, kNoTime);
    until = Clock::now() + std::chrono::milliseconds(timeout_ms);
  }
  return with(queue, [&](rdmablk_queue& it) { return it.wait(places(completions, count), until); });
}

unsigned rdmablk_pending(const rdmablk_queue* queue) {
  return queue == nullptr ? 0 : queue->pending();
}

int rdmablk_queue_fd(rdmablk_queue* queue) {
  return with(queue, [](rdmablk_queue& it) { return it.watch(); });
}
