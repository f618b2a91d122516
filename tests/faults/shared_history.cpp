#include "tests/faults/shared_history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"

namespace rdmablk::faults {
namespace {

constexpr std::uint64_t kMagic = 0x31796c6c65746f68;  // changes with the layout
constexpr std::size_t kLanesAt = 4096;

static_assert(std::atomic<std::int64_t>::is_always_lock_free);

}  // namespace

Time now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Time{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

SharedHistory SharedHistory::make(int fd, const Shape& shape) {
  const std::size_t size = kLanesAt + shape.lanes * sizeof(Lane);
  if (ftruncate(fd, static_cast<off_t>(size)) != 0) throw SystemError("size a history", errno);
  SharedHistory history(MemoryMapping::shared(fd, size));
  history.header().shape = shape;
  for (unsigned i = 0; i < shape.lanes; ++i) history.lane(i).horizon.store(kNever);
  history.header().magic = kMagic;
  return history;
}

SharedHistory SharedHistory::in_memory(const Shape& shape) {
  const UniqueFd fd(memfd_create("history", MFD_CLOEXEC));
  if (!fd) throw SystemError("make memory for a history", errno);
  return make(fd.get(), shape);
}

SharedHistory SharedHistory::create(const std::string& path, const Shape& shape) {
  // Made beside it and moved there whole, so that nobody opens half of it.
  const std::string other = path + ".new";
  const UniqueFd fd(::open(other.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) throw SystemError("make " + other, errno);
  SharedHistory history = make(fd.get(), shape);
  if (rename(other.c_str(), path.c_str()) != 0) throw SystemError("make " + path, errno);
  return history;
}

SharedHistory SharedHistory::open(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!fd || fstat(fd.get(), &status) != 0) throw SystemError("open " + path, errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < kLanesAt) throw Error(fmt::format("{} is no history", path));
  SharedHistory history(MemoryMapping::shared(fd.get(), size));
  if (history.header().magic != kMagic || size < kLanesAt + history.shape().lanes * sizeof(Lane)) {
    throw Error(fmt::format("{} is no history", path));
  }
  return history;
}

Lane* SharedHistory::lanes() const noexcept {
  return reinterpret_cast<Lane*>(mapping_.data() + kLanesAt);
}

Lane* SharedHistory::claim() const noexcept {
  for (unsigned i = 0; i < shape().lanes; ++i) {
    std::int64_t free = 0;
    if (lane(i).owner.compare_exchange_strong(free, getpid())) return &lane(i);
  }
  return nullptr;
}

}  // namespace rdmablk::faults
