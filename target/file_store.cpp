#include "target/file_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <bit>
#include <future>
#include <memory>

#include "common/error.h"
#include "common/memory_mapping.h"

namespace rdmablk::target {
namespace {

/// A hold that a thread waits for.
class AwaitedHold final : public RangeLock::Hold {
 public:
  AwaitedHold(RangeLock& ranges, std::uint64_t first, std::uint64_t last) : ranges_(ranges) {
    begin = first;
    end = last;
    if (!ranges_.acquire(*this)) granted_->get_future().wait();
  }
  ~AwaitedHold() { ranges_.release(*this); }
  AwaitedHold(const AwaitedHold&) = delete;
  AwaitedHold& operator=(const AwaitedHold&) = delete;

  /// Whoever waits may be gone before this returns.
  void on_granted() noexcept override {
    const auto granted = granted_;
    granted->set_value();
  }

 private:
  RangeLock& ranges_;
  std::shared_ptr<std::promise<void>> granted_ = std::make_shared<std::promise<void>>();
};

}  // namespace

void FileStore::cut_to(std::uint64_t size) {
  const std::uint64_t before = file_.size();
  file_.set_size(size);
  if (before <= size || !file_.can_resize()) return;
  const AwaitedHold hold(ranges_, size, std::max(before, round_up(before, file_.alignment())));
  file_.truncate();
}

void FileStore::report(const char* doing, std::uint64_t offset, int error) noexcept {
  const std::uint64_t count = ++failures_;
  if (!std::has_single_bit(count)) return;
  spdlog::error("{}: cannot {} at {}: {}{}", file_.path(), doing, offset, errno_text(error),
                count > 1 ? fmt::format(" (failure {} of this file)", count) : "");
}

}  // namespace rdmablk::target
