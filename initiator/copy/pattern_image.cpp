#include "initiator/copy/pattern_image.h"

#include <cerrno>

#include "initiator/request_list.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;
using initiator::Request;

/// Does the work in submit(), so that nobody ever has to wait.
class PatternQueue final : public initiator::Queue {
 public:
  explicit PatternQueue(const Pattern& pattern) : pattern_(pattern) {}

  void submit(Request& request) noexcept override {
    request.error = request.operation == Operation::read ? 0 : EROFS;
    if (request.error == 0) {
      pattern_.fill({request.data, static_cast<std::size_t>(request.length)}, request.offset);
    }
    done_.push(request);
  }
  void kick() noexcept override {}
  std::size_t poll(std::span<Request*> done) noexcept override {
    std::size_t count = 0;
    while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
    return count;
  }
  bool is_quiet() const noexcept override { return done_.empty(); }
  int fd() const noexcept override { return -1; }
  void arm() noexcept override {}

 private:
  const Pattern& pattern_;
  initiator::RequestList done_;
};

}  // namespace

PatternImage::PatternImage(Pattern pattern, std::uint64_t size) : pattern_(std::move(pattern)) {
  info_.name = "the pattern";
  info_.size = size;
  info_.read_only = true;
  info_.block_size = 1;
}

std::unique_ptr<initiator::Queue> PatternImage::make_queue(unsigned /*depth*/) {
  return std::make_unique<PatternQueue>(pattern_);
}

std::unique_ptr<initiator::RequestBuffers> PatternImage::make_buffers(std::size_t bytes) {
  return std::make_unique<initiator::RequestBuffers>(bytes);
}

}  // namespace rdmablk::copy
