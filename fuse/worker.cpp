#include "fuse/worker.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <utility>

#include "common/error.h"
#include "common/probes.h"
#include "common/protocol/io_messages.h"

namespace rdmablk::fuse {

namespace {

using initiator::Operation;

// libfuse's operations get the session's user data, which all workers share.
thread_local Worker* current_worker = nullptr;

/// From how many requests taken in one go a worker calls another one; and from how many bytes it
/// posts what it has taken, and calls another one if that happens twice running.
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

/// After how long without an end of any request a worker without slots begins to read ahead; and
/// how often it looks whether another one has room again. Milliseconds.
constexpr int kStallTime = 250;
constexpr int kNoTime = -1;

/// @return false when the time came first.
bool wait_for(std::initializer_list<int> descriptors, int milliseconds) noexcept {
  std::array<pollfd, 4> sources{};
  nfds_t count = 0;
  for (const int fd : descriptors) sources[count++] = {fd, POLLIN, 0};
  return ::poll(sources.data(), count, milliseconds) != 0;
}

/// Interrupts are not for libfuse: it would need a lock a request, and would call back on the
/// reader's thread, while the request may end on another.
bool is_interrupt(const Slot& slot, std::size_t size) noexcept {
  constexpr std::size_t kSize = sizeof(fuse_in_header) + sizeof(fuse_interrupt_in);
  return size >= kSize && slot.header().opcode == FUSE_INTERRUPT;
}

std::uint64_t interrupted_by(const Slot& slot) noexcept {
  const auto* const body = slot.message() + sizeof(fuse_in_header);
  return reinterpret_cast<const fuse_interrupt_in*>(body)->unique;
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

Worker::Worker(ImageSource& source, WorkerTeam& team, unsigned number, const Settings& settings)
    : settings_(settings),
      spin_(settings.spin),
      slow_log_(settings.slow),
      source_(source),
      team_(team),
      counters_(team.counters[number]),
      number_(number),
      buffers_(source.image().make_buffers(settings.depth * kSlotSize)),
      slots_(buffers_->bytes(), buffers_->keys()),
      queue_(source.image().make_queue(settings.depth)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      flush_has_work_(!source.image().info().flush_is_free) {
  if (!epoll_) throw SystemError("make an epoll descriptor", errno);
  team_.activity.watch(slots_, waiting_room_.places());
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
  watch(epoll_.get(), team_.interrupts.fd(number_), EPOLLIN);
}

void Worker::run(StopEvent& ended) noexcept {
  current_worker = this;
  set_answer_descriptor(requests_.get());
  serve();
  team_.watch.leave(number_);
  ended.set();
  drain();
  fail_rest();
  requests_.reset();
  current_worker = nullptr;
}

void Worker::serve() noexcept {
  now_ = Clock::now();
  while (!stop_->is_set()) {
    const Intake intake = take_requests();
    const bool settled = settle();
    if (intake == Intake::ended) return;
    now_ = Clock::now();
    if (intake == Intake::some || settled) {
      spin_.found(now_);
    } else if (spin_.goes_on(now_) && may_spin()) {
      relax();
    } else {
      wait();
      now_ = Clock::now();
    }
  }
}

/// With nothing under way there is only the kernel to wait for, and one worker is enough for that.
bool Worker::may_spin() noexcept {
  return !queue_->is_quiet() || team_.watch.take(number_);
}

/// Reads what the kernel has, as far as there is room, and processes it. One read too many finds
/// nothing, and keeps those waiting that were taken: so it stops short at as many as there were the
/// last time, and looks for more, twice as many, only if there were so many again. It stops at much
/// data, too: the device works on that, from the processor's cache if it can, while more is read.
Worker::Intake Worker::take_requests() noexcept {
  Intake intake = Intake::nothing;
  const bool had_taken_much = std::exchange(took_much_, false);
  taken_bytes_ = 0;
  unsigned taken = 0;
  for (; taken < expected_; ++taken) {
    Slot* const slot = take_place();
    if (slot == nullptr) break;
    const ssize_t size = ::read(requests_.get(), slot->message(), Slot::kMessageRoom);
    if (size <= 0) {
      const int error = size < 0 ? errno : 0;
      give_back(*slot);
      if (error == ENOENT || error == EINTR) continue;  // it was taken back
      if (error == EAGAIN) {
        expected_ = std::max(taken, 1U);
        break;
      }
      if (error != ENODEV) spdlog::error("cannot read from /dev/fuse: {}", errno_text(error));
      session_->end();
      return Intake::ended;
    }
    intake = Intake::some;
    process(*slot, static_cast<std::size_t>(size));
    took_much_ = taken_bytes_ >= kMuch;
    if (taken >= kMany || (took_much_ && had_taken_much)) team_.watch.call();
    if (!has_room()) team_.watch.leave(number_);
    if (took_much_) break;
  }
  // Requests that need no slot must not keep completions waiting for ever.
  if (taken == expected_) expected_ = std::min(2 * expected_, settings_.depth);
  if (intake == Intake::some) queue_->kick();
  return intake;
}

/// Where the next message goes. @return null when there is no room for one.
Slot* Worker::take_place() noexcept {
  if (Slot* const slot = slots_.take()) return slot;
  return reads_ahead() ? waiting_room_.take() : nullptr;
}

void Worker::give_back(Slot& slot) noexcept {
  if (waiting_room_.owns(slot)) return waiting_room_.give_back(slot);
  slots_.give_back(slot);
}

bool Worker::has_room() const noexcept {
  return slots_.has_free() || (is_stalled_ && waiting_room_.has_free());
}

/// Whether this worker, which has no free slot, keeps watch for its waiting room. If another one
/// has slots it leaves the watch to that, and tries again later.
bool Worker::reads_ahead() noexcept {
  if (!is_stalled_ || !waiting_room_.has_free()) return false;
  if (!team_.watch.has_resting()) return team_.watch.take(number_);
  is_stalled_ = false;
  team_.watch.leave(number_);
  return false;
}

void Worker::process(Slot& slot, std::size_t size) noexcept {
  if (is_interrupt(slot, size)) {
    team_.interrupts.post(interrupted_by(slot));
    return give_back(slot);
  }
  current_slot_ = &slot;
  submitted_ = false;
  fuse_buf message{};
  message.mem = slot.message();
  message.size = size;
  fuse_session_process_buf(session_->get(), &message);
  if (!submitted_) give_back(slot);
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
  slot.number = slot.header().unique;
  slot.interrupted = false;
  slot.begin(now_);
  counters_.begin(metrics::IoKind{static_cast<std::uint8_t>(operation)});
  if (operation == Operation::flush) slot.covers = team_.unsynced.count();
  submitted_ = true;
  if (operation == Operation::read || operation == Operation::write) taken_bytes_ += length;
  if (waiting_room_.owns(slot)) return waiting_room_.push(slot);
  hand_over(slot);
}

void Worker::hand_over(Slot& slot) noexcept {
  slot.submitted_at = now_;
  slot.is_timed = slow_log_.is_on();
  RDMABLK_PROBE(submit, probe_id<initiator::Request>(slot), static_cast<unsigned>(slot.operation),
                slot.offset, slot.length, slot.number);
  queue_->submit(slot);
}

void Worker::seek(fuse_req_t request, bool wants_hole, std::uint64_t offset,
                  std::uint64_t length) noexcept {
  current_slot_->seeks_hole = wants_hole;
  current_slot_->extents = protocol::kMaxExtents;
  submit(request, Operation::map, offset, length);
}

/// Sleeps until there is a completion, an interrupt, or the end; or a request, if it is on watch.
/// Without room for one it is not: it left the watch when it took the last place.
void Worker::wait() noexcept {
  // While nothing is under way the queue would tell of nothing; armed all the same, it would tell
  // of the next completion, which is not waited for asleep.
  const bool is_quiet = queue_->is_quiet();
  if (!is_quiet) queue_->arm();
  if (is_quiet && has_news_) queue_->drain();
  const bool may_have_missed = !is_quiet || has_news_;
  has_news_ = false;
  if (may_have_missed && settle()) return;
  sleep();
}

void Worker::sleep() noexcept {
  const int own = queue_->fd();
  const int stop = stop_->fd();
  const int interrupts = team_.interrupts.fd(number_);
  if (slots_.has_free() ? team_.watch.take(number_) : reads_ahead()) {
    std::array<epoll_event, 4> events;
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kNoTime);
    for (int i = 0; i < count; ++i) has_news_ |= events[static_cast<std::size_t>(i)].data.fd == own;
    return;
  }
  has_news_ = true;
  if (!slots_.has_free()) {
    if (!wait_for({own, stop, interrupts}, kStallTime)) is_stalled_ = true;
  } else if (team_.watch.rest(number_)) {
    wait_for({own, stop, interrupts, team_.watch.fd(number_)}, kNoTime);
    team_.watch.rise(number_);
  }
}

}  // namespace rdmablk::fuse
