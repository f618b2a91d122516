#include "tests/faults/forgetful_disk.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <thread>

namespace rdmablk::testing {

ForgetfulDisk::ForgetfulDisk(const Settings& settings)
    : settings_(settings),
      cache_(settings.backing_path),
      random_(settings.reorder_seed.value_or(0)) {}

/// Waits as long as was ordered.
Verdict ForgetfulDisk::judge(Operation operation, std::uint64_t offset, std::uint64_t length) {
  const Verdict verdict = faults_.judge(operation, offset, length);
  std::this_thread::sleep_for(verdict.delay);
  return verdict;
}

bool ForgetfulDisk::is_aligned(int flags, std::uint64_t offset, std::uint64_t length) const {
  return (flags & O_DIRECT) == 0 ||
         (offset % settings_.alignment == 0 && length % settings_.alignment == 0);
}

std::size_t ForgetfulDisk::up_to_the_end(std::uint64_t offset, std::size_t length) const {
  return offset < size() ? std::min<std::uint64_t>(length, size() - offset) : 0;
}

ForgetfulDisk::Outcome ForgetfulDisk::read(std::uint64_t offset, std::span<std::byte> data,
                                           int flags) {
  ++reads_;
  if (!is_aligned(flags, offset, data.size())) return {.error = EINVAL};
  const std::size_t length = up_to_the_end(offset, data.size());
  const Verdict verdict = judge(Operation::kRead, offset, length);
  if (verdict.error != 0) return {.error = verdict.error};
  return {.bytes = length, .error = cache_.read(offset, data.first(length))};
}

ForgetfulDisk::Outcome ForgetfulDisk::write(std::uint64_t offset, std::span<const std::byte> data,
                                            int flags) {
  ++writes_;
  if (!is_aligned(flags, offset, data.size())) return {.error = EINVAL};
  const std::size_t length = up_to_the_end(offset, data.size());
  if (length == 0 && !data.empty()) return {.error = ENOSPC};
  const Verdict verdict = judge(Operation::kWrite, offset, length);
  if (verdict.error != 0) return {.error = verdict.error};
  // The kernel does not keep the position of a short write with O_DIRECT to a FUSE file.
  const bool may_be_short = (flags & O_DIRECT) == 0;
  const std::size_t bytes =
      may_be_short ? std::min<std::uint64_t>(length, verdict.at_most) : length;
  if (const int error = cache_.write(offset, data.first(bytes))) return {.error = error};
  return {.bytes = bytes, .error = (flags & O_DSYNC) != 0 ? sync().error : persist_some()};
}

ForgetfulDisk::Outcome ForgetfulDisk::allocate(std::uint64_t offset, std::uint64_t length,
                                               int mode) {
  const int what = mode & ~FALLOC_FL_KEEP_SIZE;
  const bool zeroes = what == FALLOC_FL_PUNCH_HOLE || what == FALLOC_FL_ZERO_RANGE;
  if (settings_.no_fallocate || (what != 0 && !zeroes)) return {.error = EOPNOTSUPP};
  if (offset > size() || length > size() - offset) return {.error = ENOSPC};
  if (!zeroes) return {};
  const Verdict verdict = judge(Operation::kWrite, offset, length);
  return {.error = verdict.error != 0 ? verdict.error : cache_.zero(offset, length)};
}

ForgetfulDisk::Outcome ForgetfulDisk::sync() {
  ++syncs_;
  const Verdict verdict = judge(Operation::kSync, 0, 0);
  if (verdict.error != 0) {
    cache_.forget();
    return {.error = verdict.error};
  }
  return {.error = cache_.flush()};
}

int ForgetfulDisk::persist_some() {
  if (!settings_.reorder_seed) return 0;
  const std::scoped_lock lock(random_mutex_);
  return random_() % 8 == 0 ? cache_.persist_some(random_) : 0;
}

std::string ForgetfulDisk::report() {
  const auto [held, lost, flushes] = cache_.counters();
  return fmt::format("reads={} writes={} syncs={} flushes={} held={} lost={}\n", reads_.load(),
                     writes_.load(), syncs_.load(), flushes, held, lost);
}

}  // namespace rdmablk::testing
