#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/captive/captive_command.h"
#include "common/daemon_marker.h"
#include "common/metrics/http_server.h"
#include "fuse/fuse_session.h"
#include "fuse/image_source.h"
#include "fuse/mount_figures.h"
#include "fuse/mount_point.h"
#include "fuse/operations.h"
#include "fuse/options.h"
#include "fuse/size_notice.h"
#include "fuse/stop_event.h"
#include "fuse/termination_signals.h"
#include "fuse/worker.h"

namespace rdmablk::fuse {

/// A mounted image: attaches it, mounts it, serves it, and takes all of it down in the right order.
/// Used by one thread.
class Mount {
 public:
  Mount() = default;

  /// stop().
  ~Mount();
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  /// Connects and mounts. Returns when the mount works. Throws Error; what was done until then is
  /// undone by the destructor.
  void start(const Options& options, const MountPoint& point);

  /// The same with an image from elsewhere.
  void start(std::unique_ptr<ImageSource> source, const Options& options, const MountPoint& point);

  /// Waits until it is unmounted by somebody, or a signal says that it should be.
  void wait(const TerminationSignals& signals);

  /// Waits until it is unmounted by somebody, or a command that it is there for has ended; signals
  /// are for that.
  /// @return the exit status of the command; kExitFailed when it was unmounted first.
  int wait(const TerminationSignals& signals, CaptiveCommand& command);

  /// Unmounts, lazily when it is in use; ends the workers, who wait for what is in flight a bounded
  /// time, and not at all while the target is away; lets go of the image. Does nothing when it has
  /// been done.
  /// @return whether all that was acknowledged is where it will stay: false when writes that were
  /// not synced may be lost, which the log says.
  bool stop() noexcept;

  /// Whether it is mounted read-only, by option or because the export is.
  bool is_read_only() const noexcept { return file_system_->read_only; }

  /// How it is doing. Any thread, while it is mounted.
  MountFigures figures() const;

 private:
  bool has_lost_nothing() const noexcept;
  void make_file_system(const Options& options, Layout layout);
  void make_workers(const Options& options);
  void mount(const Options& options, const MountPoint& point);
  void check(const MountPoint& point) const;
  void mark(const MountPoint& point);
  void let_watch(const Options& options, const MountPoint& point);

  MountFigures names_;  ///< what does not change of the figures
  std::unique_ptr<ImageSource> source_;
  std::unique_ptr<FileSystem> file_system_;
  SizeNotice size_notice_;
  std::optional<WorkerTeam> team_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<FuseSession> session_;
  std::optional<DaemonMarker> marker_;  ///< for who unmounts and waits for the end
  StopEvent stop_;                      ///< tells the workers
  StopEvent ended_;                     ///< told by the workers
  std::vector<std::thread> threads_;
  std::optional<metrics::HttpServer> watched_;  ///< asks for figures()
};

}  // namespace rdmablk::fuse
