#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/protocol/features.h"
#include "common/protocol/use_report.h"
#include "common/uri.h"
#include "fuse/worker_plan.h"
#include "initiator/connection_options.h"
#include "initiator/credentials.h"
#include "initiator/image.h"
#include "initiator/path_status.h"
#include "initiator/recovery_options.h"
#include "initiator/session_state.h"

namespace rdmablk::fuse {

/// Where an image comes from, and what keeps it alive. Where nothing else is said, calls come from
/// one thread: first image() and whatever is made of it, then start(), in the end stop(), after
/// which what was made of the image is destroyed, and then the source.
class ImageSource {
 public:
  ImageSource() = default;
  virtual ~ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;

  virtual initiator::Image& image() noexcept = 0;

  /// Of the export; zeroes when there is none.
  virtual std::array<std::byte, 16> uuid() const noexcept { return {}; }

  /// The workers that it has queues for, and their depth: no more than was asked for.
  virtual WorkerPlan plan() const noexcept = 0;

  /// No queue is used before.
  virtual void start() = 0;

  /// No queue is used afterwards.
  virtual void stop() noexcept = 0;

  /// How the connection is doing, and what is done while it is down. Any thread, from start() to
  /// stop().
  virtual initiator::SessionState state() const = 0;
  virtual initiator::RecoveryOptions recovery() const = 0;
  virtual void set_recovery(const initiator::RecoveryOptions& options) = 0;

  /// The paths to its target; none for an image without one. Any thread, as state().
  virtual std::vector<initiator::PathStatus> paths() const { return {}; }

  /// Has the target told, now and then, what was done so far.
  /// @param use is called on a thread of the source's, until that is gone.
  virtual void report(std::function<protocol::Use()> use) = 0;

  /// Whether requests end, other than with an error. Any thread, from start() to stop().
  bool is_connected() const { return state().phase == initiator::SessionState::Phase::connected; }
};

/// How an export is attached.
struct RemoteAccess {
  bool read_only = false;  ///< asks for no more; an export that is read-only is attached so anyway
  bool or_less = false;    ///< where writing is not allowed, asks for reading
  bool take_over = false;  ///< takes the right to write from who has it
  initiator::RecoveryOptions recovery;
  initiator::ConnectionOptions connection{};
  std::optional<initiator::Credentials> credentials{};     ///< for a target that asks who this is
  protocol::Features features = protocol::kKnownFeatures;  ///< to tell the target of
};

/// Attaches an export. When locked memory is short, with less than the plan, and a warning. Throws
/// Error.
std::unique_ptr<ImageSource> open_remote(const Uri& uri, const WorkerPlan& wanted,
                                         const RemoteAccess& access);

/// Makes an image of local memory (NullImage). @param size bytes. Throws SystemError.
std::unique_ptr<ImageSource> open_null(std::uint64_t size, const WorkerPlan& wanted,
                                       bool read_only);

}  // namespace rdmablk::fuse
