#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/auth/key.h"
#include "common/descriptor_watch.h"
#include "common/protocol/private_data.h"
#include "initiator/admin_link.h"
#include "initiator/backoff.h"
#include "initiator/control_loop.h"
#include "initiator/credentials.h"
#include "initiator/device_keeper.h"
#include "initiator/link.h"
#include "initiator/path_keeper.h"
#include "initiator/paths.h"
#include "initiator/recovery.h"
#include "initiator/session.h"
#include "initiator/session_condition.h"
#include "initiator/session_device.h"
#include "initiator/wake_event.h"
#include "initiator/way.h"

namespace rdmablk::initiator {

class AttachedImage;

/// A session over RDMA, and what its images need of it. When the connection is lost it opens
/// another session with the target, as the same instance: so the target knows whom to fence.
class RdmaSession final : public Session {
 public:
  /// Throws Error.
  RdmaSession(const HostPort& target, const SessionOptions& options);
  ~RdmaSession() override;
  RdmaSession(const RdmaSession&) = delete;
  RdmaSession& operator=(const RdmaSession&) = delete;

  std::vector<protocol::ExportInfo> list() override;
  std::unique_ptr<RemoteImage> attach(const std::string& name,
                                      const AttachOptions& options) override;
  void start() override;
  void stop() noexcept override { loop_.stop(); }

  void set_recovery(const RecoveryOptions& options) override;
  RecoveryOptions recovery() const override { return condition_.options(); }
  SessionState state() const override { return condition_.state(); }
  std::vector<PathStatus> paths() const override { return paths_.status(); }
  void on_phase(std::function<void()> told) override { condition_.on_entered(std::move(told)); }

  const HostPort& target() const noexcept { return target_; }
  ControlLoop& loop() noexcept { return loop_; }

  /// Wakes the control thread.
  WakeEvent& wake() noexcept { return wake_; }

  /// The device that the session's own connection goes over. While it is open.
  const SessionDevice& device() const noexcept { return *device_; }

  /// For memory that requests use: it is registered with each device that a queue comes to.
  const std::shared_ptr<DeviceTable>& device_table() const noexcept { return devices_.table(); }

  Paths& paths() noexcept { return paths_; }
  PathKeeper& keeper() noexcept { return keeper_; }
  DeviceKeeper& device_keeper() noexcept { return device_keeper_; }

  /// Whether queues may go over other paths than the session's own connection.
  bool spreads_queues() const noexcept {
    return paths_.count() > 1 && features_.has(protocol::Feature::paths);
  }

  /// The paths that a queue's connection is to try, the best one first. At least one.
  std::vector<std::size_t> paths_for(unsigned queue) const;

  /// When the step that starts now has taken too long.
  ControlLoop::Clock::time_point deadline() const { return ControlLoop::Clock::now() + timeout_; }

  /// Calls what makes a connection until it succeeds, or fails for a reason that will not pass in a
  /// moment, or too much time has passed. For the first connections; later ones have Recovery.
  template <typename Call>
  auto patiently(Call call) {
    Backoff backoff(random_seed());
    const auto end = deadline();
    while (true) {
      try {
        return call();
      } catch (const ConnectError& error) {
        backoff.failed(ControlLoop::Clock::now(), kLongestPause);
        if (!error.is_passing() || backoff.next() >= end) throw;
      }
      loop_.run_until(backoff.next(), [] { return false; });
    }
  }

  /// A connection to the target, not yet made, that ends with the session. Throws ConnectError, or
  /// another Error when the device that leads there cannot be used.
  Way open_way(std::size_t path);

  /// Ends all connections over a path. @param why for people.
  void end_links(std::size_t path, const std::string& why);

  /// A device is gone: what goes over it ends. @param why for people.
  /// @return the session's use of it, until nothing is left there.
  std::weak_ptr<SessionDevice> drop_device(const ibv_context* device, const std::string& why);

  /// Whether any connection, made or not, goes over a device.
  bool is_over(const ibv_context* device) const noexcept;

  /// Where a chunk table is for a queue whose path is another than the session's own. Throws
  /// RefusedError or Error.
  protocol::ChunkTable ask_for_table(const std::string& uri, const protocol::Table& request);

  /// The proof that an I/O queue of this session carries. Throws Error.
  /// @param token of its attachment, which is the proof without authentication.
  protocol::Token prove(const protocol::QueueRequest& request, const protocol::Token& token) const;

  /// Throws RefusedError or Error.
  protocol::AttachReply ask_to_attach(const std::string& uri, const protocol::Attach& request);

  /// Ends the control thread, and gives an attachment back if the target is still there.
  /// @param attachment zero: there is none.
  void detach(std::uint64_t attachment) noexcept;

  /// What this end and the target both know; nothing before open(), and another open() may change
  /// it: the target may be a newer one then. The control thread, from start() on.
  protocol::Features features() const noexcept { return features_; }

  void add(AttachedImage& image) { images_.push_back(&image); }
  void remove(AttachedImage& image) noexcept {
    std::erase(images_, &image);
    recovery_.forget(image);
  }
  const std::vector<AttachedImage*>& images() const noexcept { return images_; }

  /// Opens a session with the target: connects, and says HELLO. Throws Error.
  void open();

  /// From open() on until end().
  bool is_open() const noexcept { return is_open_; }

  /// Tells the target what was done with the images, as each KEEPALIVE does; does not wait for
  /// that. Never fails: where it cannot be told, it is not.
  void report_use() noexcept;

  /// Whether the target has been lost since it was opened.
  bool is_lost() const noexcept { return is_open_ && admin_->lost(); }

  /// An event of the target that waits to be taken up; see AdminLink.
  bool has_event() const noexcept { return is_open_ && admin_->has_event(); }
  std::optional<AdminLink::Event> take_event() { return admin_->take_event(); }
  void acknowledge(const AdminLink::Event& event) {
    if (is_open_) admin_->acknowledge(event);
  }

  /// Of one that is lost: whether it says something against the path.
  bool is_path_to_blame() const noexcept { return admin_->is_path_to_blame(); }

  /// Makes it count as lost.
  void lose(const std::string& reason) { admin_->lose(reason); }

  /// Ends all connections of what was opened. @return why, for people.
  std::string end() noexcept;

  SessionCondition& condition() noexcept { return condition_; }
  static std::uint32_t random_seed();

 private:
  static constexpr std::chrono::milliseconds kLongestPause{500};

  struct OpenLink {
    Link* link;
    std::size_t path;
  };

  bool open(std::size_t path, bool is_last);
  void connect(std::size_t path);
  void say_hello();
  void note_features();
  protocol::UseReport use_report() const;

  ControlLoop loop_;
  WakeEvent wake_;
  HostPort target_;
  std::chrono::milliseconds timeout_;
  std::optional<Credentials> credentials_;
  protocol::Features offered_features_;
  protocol::Features features_;
  std::optional<auth::Key> session_key_;
  SessionCondition condition_;
  protocol::InstanceId instance_;  ///< of this object, in all the sessions that it opens
  Paths paths_;
  SessionDevices devices_;
  std::shared_ptr<SessionDevice> device_;  ///< of the admin queue
  std::unique_ptr<AdminLink> admin_;
  bool is_open_ = false;
  bool has_told_of_one_path_ = false;
  std::vector<OpenLink> links_;
  std::vector<AttachedImage*> images_;
  PathKeeper keeper_;
  DeviceKeeper device_keeper_;
  Recovery recovery_;
};

}  // namespace rdmablk::initiator
