#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/counted.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "fuse/image_source.h"
#include "fuse/slot.h"
#include "initiator/admin_link.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::fuse {

namespace {

initiator::SessionOptions session_options(const RemoteAccess& access) {
  initiator::SessionOptions options{
      .recovery = access.recovery, .credentials = access.credentials, .features = access.features};
  access.connection.apply_to(options);
  return options;
}

class RemoteSource final : public ImageSource {
 public:
  RemoteSource(const Uri& uri, const WorkerPlan& plan, const RemoteAccess& access)
      : session_(initiator::Session::connect(uri.target, session_options(access))) {
    initiator::AttachOptions options;
    options.access = access.read_only ? protocol::Access::read_only : protocol::Access::read_write;
    options.take_over = access.take_over;
    options.queues = plan.workers;
    options.depth = plan.depth;
    options.max_io = kMaxPayload;
    image_ = attach(uri.export_name, options, access.or_less);
    const protocol::AttachReply& granted = image_->attachment();
    plan_.workers = std::clamp<unsigned>(granted.queues, 1, plan.workers);
    plan_.depth = std::clamp<unsigned>(granted.depth, 1, plan.depth);
  }

  initiator::Image& image() noexcept override { return *image_; }
  std::array<std::byte, 16> uuid() const noexcept override {
    return image_->attachment().info.uuid;
  }
  WorkerPlan plan() const noexcept override { return plan_; }
  void start() override { session_->start(); }
  void stop() noexcept override { session_->stop(); }
  initiator::SessionState state() const override { return session_->state(); }
  std::vector<initiator::PathStatus> paths() const override { return session_->paths(); }
  initiator::RecoveryOptions recovery() const override { return session_->recovery(); }
  void report(std::function<protocol::Use()> use) override { image_->report(std::move(use)); }
  void set_recovery(const initiator::RecoveryOptions& options) override {
    session_->set_recovery(options);
  }

 private:
  std::unique_ptr<initiator::RemoteImage> attach(const std::string& name,
                                                 initiator::AttachOptions options, bool or_less) {
    try {
      return session_->attach(name, options);
    } catch (const initiator::RefusedError& error) {
      const bool is_read_only = error.status() == protocol::Status::read_only;
      if (!or_less || options.take_over || !is_read_only) throw;
    }
    options.access = protocol::Access::read_only;
    return session_->attach(name, options);
  }

  std::unique_ptr<initiator::Session> session_;  // outlives the image
  std::unique_ptr<initiator::RemoteImage> image_;
  WorkerPlan plan_;
};

/// The workers and slots that there may be memory for.
WorkerPlan affordable(const WorkerPlan& wanted) {
  const std::uint64_t limit = verbs::memlock_limit();
  const WorkerPlan plan = fit_to_memlock(wanted, limit);
  if (plan != wanted) {
    spdlog::warn(
        "the limit of locked memory is {}: buffers shrink from {} to {} ({}, queue depth "
        "{}); raise it with `ulimit -l` or LimitMEMLOCK=",
        format_size(limit), format_size(slot_memory(wanted)), format_size(slot_memory(plan)),
        counted(plan.workers, "worker"), plan.depth);
  }
  check_memory(plan, read_machine_memory());
  return plan;
}

}  // namespace

std::unique_ptr<ImageSource> open_remote(const Uri& uri, const WorkerPlan& wanted,
                                         const RemoteAccess& access) {
  return std::make_unique<RemoteSource>(uri, affordable(wanted), access);
}

}  // namespace rdmablk::fuse
