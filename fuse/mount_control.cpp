#include "fuse/mount_control.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "common/metrics/use.h"
#include "common/mount_control.h"
#include "common/mount_image.h"
#include "fuse/mount_image.h"
#include "fuse/operations.h"

namespace rdmablk::fuse {

namespace {

using initiator::RecoveryOptions;
using mount_control::Change;
using mount_control::kMaxTime;
using mount_control::kNever;
using mount_control::Status;
using std::chrono::milliseconds;
using Limit = std::optional<milliseconds>;

bool is_permitted(fuse_req_t request) {
  const uid_t user = fuse_req_ctx(request)->uid;
  return user == 0 || user == ::geteuid();
}

mount_control::Phase number_of(initiator::SessionState::Phase phase) {
  using From = initiator::SessionState::Phase;
  using To = mount_control::Phase;
  switch (phase) {
    case From::connected:
      return To::connected;
    case From::reconnecting:
      return To::reconnecting;
    case From::failing:
      return To::failing;
    case From::lost:
      return To::lost;
  }
  return To::lost;
}

std::uint64_t number_of(const Limit& limit) {
  return limit ? static_cast<std::uint64_t>(limit->count()) : kNever;
}

/// @param text gets what fits of it, and a zero.
void put(const std::string& from, std::span<char> text) {
  *std::copy_n(from.begin(), std::min(from.size(), text.size() - 1), text.begin()) = '\0';
}

Status status_of(const ImageSource& source) {
  const initiator::SessionState state = source.state();
  const RecoveryOptions options = source.recovery();
  const auto time = std::chrono::steady_clock::now() - state.since;
  Status status{};
  status.version = Status::kVersion;
  status.phase = number_of(state.phase);
  status.times = {static_cast<std::uint64_t>(options.reconnect_delay.count()),
                  number_of(options.fail_fast), number_of(options.give_up)};
  status.phase_time =
      static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(time).count());
  status.reconnects = state.reconnects;
  put(state.reason, status.reason);
  put(state.last_error, status.last_error);
  return status;
}

/// Sets a time that may be "never". @return whether it is in range.
bool set(Limit& limit, std::uint64_t time) {
  if (time != kNever && time > kMaxTime) return false;
  limit = time == kNever ? Limit() : Limit(milliseconds(time));
  return true;
}

/// @return nothing when the change makes no sense.
std::optional<RecoveryOptions> apply(const Change& change, RecoveryOptions options) {
  constexpr std::uint32_t kAll = Change::kReconnectDelay | Change::kFailFast | Change::kGiveUp;
  if (change.version != Change::kVersion || (change.what & ~kAll) != 0) return std::nullopt;
  if ((change.what & Change::kReconnectDelay) != 0) {
    const std::uint64_t delay = change.times.reconnect_delay;
    if (delay == 0 || delay > kMaxTime) return std::nullopt;
    options.reconnect_delay = milliseconds(delay);
  }
  const bool fail_fast = (change.what & Change::kFailFast) != 0;
  if (fail_fast && !set(options.fail_fast, change.times.fail_fast)) return std::nullopt;
  const bool give_up = (change.what & Change::kGiveUp) != 0;
  if (give_up && !set(options.give_up, change.times.give_up)) return std::nullopt;
  return options;
}

void tell_status(fuse_req_t request, const ImageSource& source, std::size_t size) {
  if (size < sizeof(Status)) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  const Status status = status_of(source);
  fuse_reply_ioctl(request, 0, &status, sizeof status);
}

mount_control::Activity activity_of(const FileSystem& file_system) {
  const WorkerPlan plan = file_system.source->plan();
  const auto seen = file_system.team->activity.look();
  mount_control::Activity activity{};
  activity.version = mount_control::Activity::kVersion;
  activity.workers = plan.workers;
  activity.queue_depth = plan.depth;
  activity.unsynced = file_system.team->unsynced.any() ? 1 : 0;
  activity.in_flight = seen.in_flight;
  activity.waiting = seen.waiting;
  if (seen.oldest) {
    const auto age = std::chrono::steady_clock::now() - *seen.oldest;
    activity.oldest_age = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(age).count());
  }
  activity.size = file_system.node.size();
  put(file_system.uri, activity.uri);
  return activity;
}

void tell_activity(fuse_req_t request, const FileSystem& file_system, std::size_t size) {
  if (size < sizeof(mount_control::Activity)) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  const auto activity = activity_of(file_system);
  fuse_reply_ioctl(request, 0, &activity, sizeof activity);
}

void tell_use(fuse_req_t request, const FileSystem& file_system, std::size_t size) {
  if (size < sizeof(mount_control::Use)) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  const protocol::Use seen = metrics::use_of(file_system.team->figures());
  const mount_control::Use use{.version = mount_control::Use::kVersion,
                               .reserved = 0,
                               .reads = seen.reads,
                               .writes = seen.writes,
                               .flushes = seen.flushes,
                               .others = seen.others,
                               .bytes_read = seen.bytes_read,
                               .bytes_written = seen.bytes_written,
                               .errors = seen.errors};
  fuse_reply_ioctl(request, 0, &use, sizeof use);
}

mount_control::Paths paths_of(const ImageSource& source) {
  mount_control::Paths answer{};
  answer.version = mount_control::Paths::kVersion;
  for (const initiator::PathStatus& path : source.paths()) {
    if (answer.count == mount_control::Paths::kMost) break;
    auto& to = answer.paths[answer.count++];
    put(path.place.text(), to.address);
    put(path.device, to.device);
    put(path.last_error, to.last_error);
    to.is_up = path.is_up ? 1 : 0;
    to.is_session = path.is_admin ? 1 : 0;
    to.queues = path.queues;
    to.failures = path.failures;
    to.reads = path.counts.reads;
    to.writes = path.counts.writes;
    to.others = path.counts.others;
    to.bytes_read = path.counts.bytes_read;
    to.bytes_written = path.counts.bytes_written;
  }
  return answer;
}

void tell_paths(fuse_req_t request, const ImageSource& source, std::size_t size) {
  if (size < sizeof(mount_control::Paths)) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  const auto paths = paths_of(source);
  fuse_reply_ioctl(request, 0, &paths, sizeof paths);
}

void set_times(fuse_req_t request, ImageSource& source, const void* input, std::size_t size) {
  Change change{};
  if (size == sizeof change) std::memcpy(&change, input, size);
  const auto options = apply(change, source.recovery());
  if (!options) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  source.set_recovery(*options);
  fuse_reply_ioctl(request, 0, nullptr, 0);
}

}  // namespace

void control(fuse_req_t request, fuse_ino_t /*ino*/, unsigned command, void* /*argument*/,
             fuse_file_info* /*file*/, unsigned /*flags*/, const void* input,
             std::size_t input_size, std::size_t output_size) {
  const auto& file_system = *static_cast<const FileSystem*>(fuse_req_userdata(request));
  if (command != mount_control::kGetStatus && command != mount_control::kSetTimes &&
      command != mount_control::kGetActivity && command != mount_control::kGetUse &&
      command != mount_control::kGetPaths && command != mount_image::kGetImage) {
    fuse_reply_err(request, ENOTTY);
  } else if (!is_permitted(request)) {
    fuse_reply_err(request, EPERM);
  } else if (command == mount_image::kGetImage) {
    tell_image(request, file_system, output_size);
  } else if (command == mount_control::kGetStatus) {
    tell_status(request, *file_system.source, output_size);
  } else if (command == mount_control::kGetActivity) {
    tell_activity(request, file_system, output_size);
  } else if (command == mount_control::kGetUse) {
    tell_use(request, file_system, output_size);
  } else if (command == mount_control::kGetPaths) {
    tell_paths(request, *file_system.source, output_size);
  } else {
    set_times(request, *file_system.source, input, input_size);
  }
}

}  // namespace rdmablk::fuse
