#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/verbs/protection_domain.h"
#include "initiator/admin_link.h"
#include "initiator/control_loop.h"
#include "initiator/link.h"
#include "initiator/session.h"

namespace rdmablk::initiator {

/// A session over RDMA, and what its images need of it.
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
  void start() override { loop_.start(); }
  void stop() noexcept override { loop_.stop(); }

  void set_recovery(const RecoveryOptions& options) override { recovery_ = options; }
  RecoveryOptions recovery() const override { return recovery_; }
  SessionState state() const override { return {}; }

  ControlLoop& loop() noexcept { return loop_; }
  ibv_context* device() const noexcept { return admin_->device(); }

  /// Where request buffers are registered and I/O queues live.
  const verbs::ProtectionDomain& buffers_domain() const noexcept { return *buffers_domain_; }

  /// When the step that starts now has taken too long.
  ControlLoop::Clock::time_point deadline() const { return ControlLoop::Clock::now() + timeout_; }

  /// A connection to the target, not yet made, that ends with the session. Throws ConnectError.
  std::unique_ptr<Link> open_link();

  /// Gives an attachment back, if the target is still there.
  void detach(std::uint64_t attachment) noexcept;

 private:
  void connect();
  void say_hello();
  void end_links() noexcept;

  ControlLoop loop_;
  HostPort target_;
  std::chrono::milliseconds timeout_;
  SocketAddress address_;  ///< the one of the target's that answered
  std::unique_ptr<AdminLink> admin_;
  std::unique_ptr<verbs::ProtectionDomain> buffers_domain_;
  std::vector<Link*> links_;
  RecoveryOptions recovery_;
};

}  // namespace rdmablk::initiator
