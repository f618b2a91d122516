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

 private:
  initiator::NullImage image_;
  WorkerPlan plan_;
};

}  // namespace

std::unique_ptr<ImageSource> open_null(std::uint64_t size, const WorkerPlan& wanted,
                                       bool read_only) {
  return std::make_unique<NullSource>(size, wanted, read_only);
}

}  // namespace rdmablk::fuse
