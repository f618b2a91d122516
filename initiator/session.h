#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/setting_options.h"
#include "common/cm/settings.h"
#include "common/protocol/features.h"
#include "common/protocol/messages.h"
#include "common/uri.h"
#include "initiator/credentials.h"
#include "initiator/image.h"
#include "initiator/path_status.h"
#include "initiator/recovery_options.h"
#include "initiator/session_state.h"

namespace rdmablk::initiator {

class RemoteImage;

struct SessionOptions {
  /// More addresses of the same target, besides the one that it is called by: I/O queues are spread
  /// over all that work, and what is lost on one goes over another. Each may lead over another
  /// device of this host, and to another of the target's.
  std::vector<HostPort> paths{};

  /// How long each step of setting up may take: connecting, and every request to the target.
  std::chrono::milliseconds timeout{5000};

  RecoveryOptions recovery;

  /// Who this is, for a target that asks; nothing: the target must not ask.
  std::optional<Credentials> credentials{};

  /// How to connect.
  cm::Method method = cm::default_method();
  cm::Settings connections{};

  /// What to tell the target that this end knows.
  protocol::Features features = protocol::kKnownFeatures;
};

struct AttachOptions {
  protocol::Access access = protocol::Access::read_write;
  unsigned queues = 1;               ///< I/O queues that will be made
  unsigned depth = 32;               ///< of each
  std::uint32_t max_io = 1U << 20U;  ///< bytes of the largest request
  bool take_over = false;            ///< fence whoever holds the lease, and take it over
};

/// One initiator on one target. Everything but start() and stop() belongs to the time of setting
/// up, on one thread: connect, list, attach, make queues and buffers. start() then begins a thread
/// that watches the connections; from there on only the queues are used, each by its thread. stop()
/// ends that thread, after which queues, images and the session are destroyed, in this order.
class Session {
 public:
  /// Connects to a target. Throws Error, also when it does not answer in time.
  static std::unique_ptr<Session> connect(const HostPort& target,
                                          const SessionOptions& options = {});

  virtual ~Session() = default;

  /// The exports that this initiator may see, by name. Throws Error.
  virtual std::vector<protocol::ExportInfo> list() = 0;

  /// Attaches an export. Throws Error; when there is none of that name, the text lists those that
  /// exist.
  /// @return an image, which the session outlives.
  virtual std::unique_ptr<RemoteImage> attach(const std::string& name,
                                              const AttachOptions& options) = 0;

  /// Begins to watch the connections. When one is lost, requests wait while it is made again, as
  /// RecoveryOptions say, and then are done as if nothing had happened; a line in the log says why,
  /// and another one when it is back. They end with EIO for good when what was acknowledged may be
  /// lost, or the right to write the export was given to another.
  virtual void start() = 0;

  /// Changes what is done while the connection is down. Any thread, at any time.
  virtual void set_recovery(const RecoveryOptions& options) = 0;
  virtual RecoveryOptions recovery() const = 0;

  /// How the connection is doing. Any thread, after start().
  virtual SessionState state() const = 0;

  /// The paths to the target, the address that it is called by first. Any thread.
  virtual std::vector<PathStatus> paths() const = 0;

  /// Has `told` called whenever the connection is in another phase than before, on the thread that
  /// watches the connections: it must not wait for any queue. Before start().
  virtual void on_phase(std::function<void()> told) = 0;

  /// Ends the watching; does nothing when it was not started. No queue may be in use.
  virtual void stop() noexcept = 0;
};

}  // namespace rdmablk::initiator
