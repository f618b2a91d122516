#pragma once

#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

/// How a mount is asked, while it works or waits for its target, how its connection is doing, and
/// told what to do while the target cannot be reached: ioctl(2) on the mount point, be it the image
/// or the directory around it, opened for reading. rdmablk-fuse answers by itself. It takes root or
/// the user that rdmablk-fuse runs as; others get EPERM, values that make no sense EINVAL, and
/// numbers that it does not know ENOTTY.
///
/// The layouts are the same for 32 and 64 bits, and do not change: another version gets other
/// structures and numbers.
namespace rdmablk::mount_control {

/// In place of a time: never.
inline constexpr std::uint64_t kNever = UINT64_MAX;

/// The longest time, but kNever, in milliseconds: a year.
inline constexpr std::uint64_t kMaxTime = std::uint64_t{365} * 24 * 3600 * 1000;

/// initiator::RecoveryOptions, in milliseconds.
struct Times {
  std::uint64_t reconnect_delay;  ///< 1 to kMaxTime
  std::uint64_t fail_fast;        ///< 0 to kMaxTime, or kNever
  std::uint64_t give_up;          ///< 0 to kMaxTime, or kNever
};

/// initiator::SessionState::Phase.
enum class Phase : std::uint32_t { connected = 0, reconnecting = 1, failing = 2, lost = 3 };

struct Status {
  static constexpr std::uint32_t kVersion = 2;
  static constexpr std::size_t kReasonSize = 512;

  std::uint32_t version;
  Phase phase;
  Times times;
  std::uint64_t phase_time;  ///< milliseconds since the phase began
  std::uint64_t reconnects;  ///< times that a lost connection came back
  // NOLINTBEGIN(modernize-avoid-c-arrays): of one size everywhere; they end with a zero
  char reason[kReasonSize];      ///< of the last loss
  char last_error[kReasonSize];  ///< of the last attempt to reconnect
  // NOLINTEND(modernize-avoid-c-arrays)
};

/// Sets some of the times.
struct Change {
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::uint32_t kReconnectDelay = 1;
  static constexpr std::uint32_t kFailFast = 2;
  static constexpr std::uint32_t kGiveUp = 4;

  std::uint32_t version;
  std::uint32_t what;  ///< which of the times are meant
  Times times;
};

/// What a mount is working on. What comes and goes meanwhile may be missing or there.
struct Activity {
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kUriSize = 512;

  std::uint32_t version;
  std::uint32_t workers;      ///< each with an I/O queue of its own
  std::uint32_t queue_depth;  ///< requests that each has room for
  std::uint32_t unsynced;     ///< 1: writes were acknowledged that are yet to be flushed; 0: none
  std::uint64_t in_flight;    ///< requests that are not answered
  std::uint64_t waiting;      ///< of these: those that wait for room
  std::uint64_t oldest_age;   ///< microseconds since the oldest one came; 0 when there is none
  std::uint64_t size;         ///< bytes of the image
  // NOLINTNEXTLINE(modernize-avoid-c-arrays): as above
  char uri[kUriSize];  ///< of the export; empty for an image without a target
};

/// What was done with a mount, since it was made.
struct Use {
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t reads;  ///< requests that have ended, well or not
  std::uint64_t writes;
  std::uint64_t flushes;
  std::uint64_t others;
  std::uint64_t bytes_read;
  std::uint64_t bytes_written;
  std::uint64_t errors;  ///< requests that have failed
};

/// The paths to a mount's target, the address that it is called by first.
struct Paths {
  static constexpr std::uint32_t kVersion = 1;
  static constexpr std::size_t kMost = 8;
  static constexpr std::size_t kNameSize = 64;
  static constexpr std::size_t kDeviceSize = 32;
  static constexpr std::size_t kErrorSize = 80;

  struct Path {
    // NOLINTBEGIN(modernize-avoid-c-arrays): as above
    char address[kNameSize];      ///< HOST:PORT
    char device[kDeviceSize];     ///< of this host, that leads there; empty: not known
    char last_error[kErrorSize];  ///< why it does not work; empty when it does
    // NOLINTEND(modernize-avoid-c-arrays)
    std::uint32_t is_up;
    std::uint32_t is_session;  ///< 1: the session's own connection goes this way
    std::uint32_t queues;      ///< that go this way now
    std::uint32_t reserved;
    std::uint64_t failures;  ///< times that it went down
    std::uint64_t reads;     ///< requests that have ended well, since the mount was made
    std::uint64_t writes;
    std::uint64_t others;
    std::uint64_t bytes_read;
    std::uint64_t bytes_written;
  };

  std::uint32_t version;
  std::uint32_t count;  ///< 0: the image has no target
  Path paths[kMost];    // NOLINT(modernize-avoid-c-arrays): as above
};

static_assert(sizeof(Paths::Path) == 240 && sizeof(Paths) == 1928);
static_assert(sizeof(Activity) == 560 && sizeof(Use) == 64);
static_assert(sizeof(Times) == 24 && sizeof(Status) == 1072 && sizeof(Change) == 32);

inline constexpr unsigned kType = 0xDB;
inline constexpr unsigned kGetStatus = _IOR(kType, 1, Status);
inline constexpr unsigned kSetTimes = _IOW(kType, 2, Change);
inline constexpr unsigned kGetActivity = _IOR(kType, 3, Activity);
inline constexpr unsigned kGetUse = _IOR(kType, 4, Use);
inline constexpr unsigned kGetPaths = _IOR(kType, 5, Paths);

}  // namespace rdmablk::mount_control
