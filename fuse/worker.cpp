#include "fuse/worker.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/protocol/io_messages.h"
#include "fuse/hole_search.h"

namespace rdmablk::fuse {

namespace {

using initiator::Operation;

/// How long a worker that stops waits for what is in flight.
constexpr std::chrono::seconds kDrainTime{2};

// libfuse's operations get the session's user data, which all workers share.
thread_local Worker* current_worker = nullptr;

/// From how many requests taken in one go, or how many bytes of more than one, a worker calls
/// another one.
constexpr unsigned kMany = 8;
constexpr std::uint64_t kMuch = 256U << 10U;

/// Tells the processor that this is a loop that waits.
void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void watch(int epoll, int fd, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
    throw SystemError("watch a worker's descriptors", errno);
  }
}

}  // namespace

Worker::Worker(initiator::Image& image, Watch& watch, unsigned number, const Settings& settings)
    : settings_(settings),
      watch_(watch),
      number_(number),
      buffers_(image.make_buffers(settings.depth * kSlotSize)),
      slots_(buffers_->bytes(), buffers_->lkey()),
      queue_(image.make_queue(settings.depth)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      flushes_at_end_(!image.info().flush_is_free) {
  if (!epoll_) throw SystemError("make an epoll descriptor", errno);
}

Worker::~Worker() {
  queue_.reset();  // lets go of the buffers, whatever is in flight
}

Worker& Worker::current() noexcept {
  return *current_worker;
}

void Worker::open(FuseSession& session, const StopEvent& stop) {
  session_ = &session;
  stop_ = &stop;
  requests_ = session.clone();
  // Exclusive: a request wakes the worker that sleeps here, and no other descriptor is told.
  watch(epoll_.get(), requests_.get(), EPOLLIN | EPOLLEXCLUSIVE);
  watch(epoll_.get(), queue_->fd(), EPOLLIN);
  watch(epoll_.get(), stop.fd(), EPOLLIN);
}

void Worker::run(StopEvent& ended) noexcept {
  current_worker = this;
  set_answer_descriptor(requests_.get());
  serve();
  watch_.leave(number_);
  ended.set();
  drain();
  fail_rest();
  requests_.reset();
  current_worker = nullptr;
}

void Worker::serve() noexcept {
  auto last_active = Clock::now();
  while (!stop_->is_set()) {
    const Intake intake = take_requests();
    const bool completed = complete();
    if (intake == Intake::ended) return;
    if (intake == Intake::some || completed) {
      last_active = Clock::now();
    } else if (Clock::now() - last_active < settings_.spin) {
      relax();
    } else {
      wait();
    }
  }
}

/// Reads what the kernel has, as far as there are slots, and processes it.
Worker::Intake Worker::take_requests() noexcept {
  Intake intake = Intake::nothing;
  taken_bytes_ = 0;
  // Requests that need no slot must not keep completions waiting for ever.
  for (unsigned taken = 0; taken < settings_.depth; ++taken) {
    Slot* const slot = slots_.take();
    if (slot == nullptr) break;
    const ssize_t size = ::read(requests_.get(), slot->message(), Slot::kMessageRoom);
    if (size <= 0) {
      slots_.give_back(*slot);
      if (size < 0 && (errno == ENOENT || errno == EINTR)) continue;  // it was taken back
      if (size < 0 && errno == EAGAIN) break;
      if (errno != ENODEV) spdlog::error("cannot read from /dev/fuse: {}", errno_text(errno));
      session_->end();
      return Intake::ended;
    }
    intake = Intake::some;
    process(*slot, static_cast<std::size_t>(size));
    const bool many = taken >= kMany || (taken > 0 && taken_bytes_ >= kMuch);
    if (many) watch_.call();
    if (!slots_.has_free()) watch_.leave(number_);
  }
  if (intake == Intake::some) queue_->kick();
  return intake;
}

void Worker::process(Slot& slot, std::size_t size) noexcept {
  current_slot_ = &slot;
  submitted_ = false;
  fuse_buf message{};
  message.mem = slot.message();
  message.size = size;
  fuse_session_process_buf(session_->get(), &message);
  if (!submitted_) slots_.give_back(slot);
}

void Worker::submit(fuse_req_t request, Operation operation, std::uint64_t offset,
                    std::uint64_t length, bool durable) noexcept {
  Slot& slot = *current_slot_;
  slot.fuse_request = request;
  slot.operation = operation;
  slot.offset = offset;
  slot.length = length;
  slot.durable = durable;
  slot.error = 0;
  submitted_ = true;
  if (operation == Operation::read || operation == Operation::write) taken_bytes_ += length;
  queue_->submit(slot);
}

void Worker::seek(fuse_req_t request, bool wants_hole, std::uint64_t offset,
                  std::uint64_t length) noexcept {
  current_slot_->seeks_hole = wants_hole;
  current_slot_->extents = protocol::kMaxExtents;
  submit(request, Operation::map, offset, length);
}

bool Worker::complete() noexcept {
  std::array<initiator::Request*, 64> done{};
  bool any = false;
  while (const std::size_t count = queue_->poll(done)) {
    for (initiator::Request* const request : std::span(done).first(count)) {
      if (!last_flush_.takes(*request)) answer(static_cast<Slot&>(*request));
    }
    any = true;
    if (std::exchange(has_more_to_seek_, false)) queue_->kick();
  }
  return any;
}

void Worker::answer(Slot& slot) noexcept {
  if (slot.operation == Operation::map) return answer_seek(slot);
  const fuse_req_t request = std::exchange(slot.fuse_request, nullptr);
  if (slot.error != 0) {
    fuse_reply_err(request, slot.error);
  } else if (slot.operation == Operation::read) {
    fuse_reply_buf(request, reinterpret_cast<const char*>(slot.data), slot.length);
  } else if (slot.operation == Operation::write) {
    fuse_reply_write(request, slot.length);
  } else {
    fuse_reply_err(request, 0);
  }
  slots_.give_back(slot);
}

/// Answers lseek(2), or looks on where the map that has come ends. The end counts as a hole.
void Worker::answer_seek(Slot& slot) noexcept {
  const auto* map = reinterpret_cast<const protocol::Extent*>(slot.data);
  const std::uint64_t end = slot.offset + slot.length;
  SearchResult result{.is_found = slot.seeks_hole, .offset = end};
  if (slot.error == 0 && slot.extents > 0) {
    result = search({map, slot.extents}, slot.offset, slot.seeks_hole);
    if (!result.is_found && result.offset < end) {
      slot.offset = result.offset;
      slot.length = end - result.offset;
      slot.extents = protocol::kMaxExtents;
      has_more_to_seek_ = true;
      return queue_->submit(slot);
    }
    result.is_found = result.is_found || slot.seeks_hole;
  }
  const fuse_req_t request = std::exchange(slot.fuse_request, nullptr);
  if (slot.error != 0) {
    // After ENOSYS the kernel takes all for data, without asking again.
    fuse_reply_err(request, slot.error == EOPNOTSUPP ? ENOSYS : slot.error);
  } else if (!result.is_found) {
    fuse_reply_err(request, ENXIO);
  } else {
    fuse_reply_lseek(request, static_cast<off_t>(result.offset));
  }
  slots_.give_back(slot);
}

/// Sleeps until there is a completion, or the end; or a request, if it is on watch. Without a free
/// slot it is not: it left the watch when it took the last one.
void Worker::wait() noexcept {
  queue_->arm();
  if (complete()) return;
  if (!slots_.has_free()) {
    std::array<pollfd, 2> sources{{{queue_->fd(), POLLIN, 0}, {stop_->fd(), POLLIN, 0}}};
    ::poll(sources.data(), sources.size(), -1);
  } else if (watch_.take(number_)) {
    std::array<epoll_event, 3> events;
    ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
  } else if (watch_.rest(number_)) {
    std::array<pollfd, 3> sources{
        {{queue_->fd(), POLLIN, 0}, {stop_->fd(), POLLIN, 0}, {watch_.fd(number_), POLLIN, 0}}};
    ::poll(sources.data(), sources.size(), -1);
    watch_.rise(number_);
  }
}

/// Completes until `done` says so. @return false when the time came first.
template <typename Done>
bool Worker::complete_within(Clock::duration time, Done done) noexcept {
  const auto end = Clock::now() + time;
  while (true) {
    queue_->arm();
    complete();
    if (done()) return true;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd source{queue_->fd(), POLLIN, 0};
    ::poll(&source, 1, static_cast<int>(left));
  }
}

/// Answers what ends within kDrainTime.
void Worker::drain() noexcept {
  queue_->kick();
  if (!complete_within(kDrainTime, [this] { return slots_.taken() == 0; })) {
    spdlog::warn("{} requests did not end within {} s; they fail", slots_.taken(),
                 kDrainTime.count());
  }
  if (flushes_at_end_) flush_last();
}

void Worker::flush_last() noexcept {
  last_flush_.submit(*queue_);
  const auto ended = [this] { return last_flush_.has_ended(); };
  if (!complete_within(LastFlush::kLong, ended)) {
    spdlog::info("waiting for the target to flush what was written");
    complete_within(LastFlush::kTime - LastFlush::kLong, ended);
  }
  last_flush_.report();
}

/// Answers what is still in flight; its slots stay taken, as the queue holds on to them.
void Worker::fail_rest() noexcept {
  for (Slot& slot : slots_.slots()) {
    if (slot.fuse_request != nullptr) {
      fuse_reply_err(std::exchange(slot.fuse_request, nullptr), EIO);
    }
  }
}

}  // namespace rdmablk::fuse
