#include "tests/scale/member.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <utility>

#include "common/error.h"

namespace rdmablk::scale {
namespace {

using initiator::Operation;
using initiator::Request;
using Clock = std::chrono::steady_clock;

/// Far longer than anything takes.
constexpr int kPatienceMs = 60000;

/// How long a step of opening may take: with many at once on few processors, long.
constexpr std::chrono::seconds kTimeout{60};

/// Measures the steps of something: each call tells the time since the one before.
class Lap {
 public:
  Duration next() {
    const auto now = Clock::now();
    return now - std::exchange(last_, now);
  }

 private:
  Clock::time_point last_ = Clock::now();
};

}  // namespace

Member::Member(const MemberOptions& options)
    : options_(options), pattern_(options.salt), requests_(options.depth) {
  initiator::SessionOptions session;
  session.timeout = kTimeout;
  session.recovery.give_up = std::chrono::milliseconds(0);
  Lap lap;
  session_ = initiator::Session::connect(options.target, session);
  times_.connect = lap.next();
  initiator::AttachOptions attach;
  attach.access = options.access;
  attach.depth = options.depth;
  image_ = session_->attach(options.export_name, attach);
  times_.attach = lap.next();
  queue_ = image_->make_queue(options.depth);
  buffers_ = image_->make_buffers(options.depth * kRequestSize);
  session_->start();
  times_.queue = lap.next();
  for (Request& request : requests_) free_.push_back(&request);
}

Member::~Member() {
  session_->stop();
  queue_.reset();
  buffers_.reset();
  image_.reset();
}

bool Member::is_connected() const {
  return session_->state().phase == initiator::SessionState::Phase::connected;
}

Request& Member::prepare(Operation operation, std::uint64_t offset) {
  Request& request = *free_.back();
  free_.pop_back();
  const auto index = static_cast<std::size_t>(&request - requests_.data());
  request.operation = operation;
  request.offset = options_.begin + offset;
  request.length = kRequestSize;
  request.data = buffers_->bytes().subspan(index * kRequestSize).data();
  request.keys = buffers_->keys();
  return request;
}

void Member::check(const Request& request) {
  if (request.error != 0) {
    throw Error(fmt::format("a request at {} of '{}' failed: {}", request.offset,
                            options_.export_name, errno_text(request.error)));
  }
  if (request.operation == Operation::read &&
      !pattern_.matches({request.data, kRequestSize}, request.offset)) {
    throw Error(fmt::format("at {} of '{}' lies something else than was written", request.offset,
                            options_.export_name));
  }
}

void Member::write_pattern() {
  for (std::uint64_t offset = 0; offset < options_.length; offset += kRequestSize) {
    Request& request = prepare(Operation::write, offset);
    pattern_.fill({request.data, kRequestSize}, request.offset);
    queue_->submit(request);
    queue_->kick();
    wait_for_all();
  }
}

void Member::verify_pattern() {
  next_ = 0;
  for (std::uint64_t offset = 0; offset < options_.length; offset += kRequestSize) {
    submit_read();
    queue_->kick();
    wait_for_all();
  }
}

bool Member::submit_read() {
  if (free_.empty()) return false;
  queue_->submit(prepare(Operation::read, next_));
  next_ = (next_ + kRequestSize) % options_.length;
  return true;
}

std::size_t Member::take_done() {
  constexpr std::size_t kBatch = 32;
  std::array<Request*, kBatch> done{};
  const std::size_t count = queue_->poll(done);
  for (std::size_t i = 0; i < count; ++i) {
    check(*done[i]);
    free_.push_back(done[i]);
  }
  return count;
}

void Member::wait_for_all() {
  while (free_.size() < requests_.size()) {
    if (take_done() > 0) continue;
    queue_->arm();
    if (take_done() > 0) continue;
    pollfd wait{queue_->fd(), POLLIN, 0};
    if (::poll(&wait, 1, kPatienceMs) != 1) throw Error("a request did not end");
  }
}

}  // namespace rdmablk::scale
