#include <mutex>

#include "fuse/image_source.h"
#include "initiator/null_image.h"

namespace rdmablk::fuse {

namespace {

class NullSource final : public ImageSource {
 public:
  NullSource(std::uint64_t size, const WorkerPlan& plan, bool read_only)
      : image_("null", size, read_only), plan_(plan) {}

  initiator::Image& image() noexcept override { return image_; }
  WorkerPlan plan() const noexcept override { return plan_; }
  void start() override {}
  void stop() noexcept override {}

  void report(std::function<protocol::Use()> /*use*/) override {}

  initiator::SessionState state() const override {
    initiator::SessionState state;
    state.since = made_at_;
    return state;
  }

  initiator::RecoveryOptions recovery() const override {
    const std::lock_guard lock(mutex_);
    return recovery_;
  }

  void set_recovery(const initiator::RecoveryOptions& options) override {
    const std::lock_guard lock(mutex_);
    recovery_ = options;
  }

 private:
  initiator::NullImage image_;
  WorkerPlan plan_;
  std::chrono::steady_clock::time_point made_at_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;
  initiator::RecoveryOptions recovery_;  ///< of no use, but it can be set and read as any other's
};

}  // namespace

std::unique_ptr<ImageSource> open_null(std::uint64_t size, const WorkerPlan& wanted,
                                       bool read_only) {
  check_memory(wanted, read_machine_memory());
  return std::make_unique<NullSource>(size, wanted, read_only);
}

}  // namespace rdmablk::fuse
