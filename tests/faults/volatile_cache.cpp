#include "tests/faults/volatile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "common/error.h"

namespace rdmablk::testing {

namespace {

constexpr std::uint64_t kSector = 512;
constexpr std::size_t kRun = 2048;  // sectors written at once

int write_all(int fd, std::span<const std::byte> data, std::uint64_t offset) {
  while (!data.empty()) {
    const ssize_t written = ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    data = data.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

int read_all(int fd, std::span<std::byte> data, std::uint64_t offset) {
  while (!data.empty()) {
    const ssize_t got = ::pread(fd, data.data(), data.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return EIO;  // somebody has cut the file
    data = data.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace

VolatileCache::VolatileCache(const std::string& backing_path)
    : backing_(::open(backing_path.c_str(), O_RDWR | O_CLOEXEC)) {
  if (!backing_) throw SystemError("open the backing file " + backing_path, errno);
  struct stat status {};
  if (::fstat(backing_.get(), &status) != 0) throw SystemError("stat " + backing_path, errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size_ == 0 || size_ % kSector != 0) {
    throw Error(fmt::format(
        "{} cannot stand behind a disk: it takes a regular file whose size is a multiple of {}",
        backing_path, kSector));
  }
}

int VolatileCache::read(std::uint64_t offset, std::span<std::byte> data) {
  const std::scoped_lock lock(mutex_);
  if (const int error = read_all(backing_.get(), data, offset)) return error;
  overlay(lost_, offset, data);
  overlay(flushing_, offset, data);
  overlay(held_, offset, data);
  return 0;
}

void VolatileCache::overlay(const Sectors& sectors, std::uint64_t offset,
                            std::span<std::byte> data) const {
  const std::uint64_t end = offset + data.size();
  for (auto it = sectors.lower_bound(offset / kSector);
       it != sectors.end() && it->first * kSector < end; ++it) {
    const std::uint64_t start = it->first * kSector;
    const std::uint64_t from = std::max(start, offset);
    const std::size_t count = std::min(start + kSector, end) - from;
    std::byte* const to = data.data() + (from - offset);
    if (it->second) {
      std::memcpy(to, it->second->data() + (from - start), count);
    } else {
      std::memset(to, 0, count);
    }
  }
}

int VolatileCache::write(std::uint64_t offset, std::span<const std::byte> data) {
  const std::scoped_lock lock(mutex_);
  while (!data.empty()) {
    const std::size_t start = offset % kSector;
    const std::size_t count = std::min<std::size_t>(kSector - start, data.size());
    if (const int error = patch(offset / kSector, start, data.first(count))) return error;
    offset += count;
    data = data.subspan(count);
  }
  return 0;
}

int VolatileCache::zero(std::uint64_t offset, std::uint64_t length) {
  static constexpr Block kZeroes{};
  const std::scoped_lock lock(mutex_);
  while (length > 0) {
    const std::size_t start = offset % kSector;
    const std::size_t count = std::min<std::uint64_t>(kSector - start, length);
    if (count == kSector) {
      put(offset / kSector, nullptr);
    } else if (const int error = patch(offset / kSector, start, std::span(kZeroes).first(count))) {
      return error;
    }
    offset += count;
    length -= count;
  }
  return 0;
}

int VolatileCache::load(std::uint64_t sector, Block& block) const {
  for (const Sectors* layer : {&held_, &flushing_, &lost_}) {
    const auto it = layer->find(sector);
    if (it == layer->end()) continue;
    block = it->second ? *it->second : Block{};
    return 0;
  }
  return read_all(backing_.get(), block, sector * kSector);
}

int VolatileCache::patch(std::uint64_t sector, std::size_t start, std::span<const std::byte> data) {
  auto block = std::make_unique<Block>();
  if (data.size() < kSector) {
    if (const int error = load(sector, *block)) return error;
  }
  std::copy(data.begin(), data.end(), block->begin() + static_cast<std::ptrdiff_t>(start));
  put(sector, std::move(block));
  return 0;
}

void VolatileCache::put(std::uint64_t sector, std::unique_ptr<Block> block) {
  lost_.erase(sector);
  held_.insert_or_assign(sector, std::move(block));
}

int VolatileCache::flush() {
  const std::scoped_lock one_at_a_time(writing_out_);
  {
    const std::scoped_lock lock(mutex_);
    flushing_ = std::exchange(held_, {});
    ++flushes_;
  }
  int error = write_out();
  if (error == 0 && ::fdatasync(backing_.get()) != 0) error = errno;
  const std::scoped_lock lock(mutex_);
  if (error != 0) lost_.merge(flushing_);
  flushing_.clear();
  return error;
}

void VolatileCache::forget() {
  const std::scoped_lock lock(mutex_);
  for (auto& [sector, block] : held_) lost_.insert_or_assign(sector, std::move(block));
  held_.clear();
}

int VolatileCache::persist_some(std::mt19937_64& random) {
  const std::unique_lock one_at_a_time(writing_out_, std::try_to_lock);
  if (!one_at_a_time) return 0;
  {
    const std::scoped_lock lock(mutex_);
    for (auto it = held_.begin(); it != held_.end();) {
      const auto sector = it++;
      if (random() % 4 == 0) flushing_.insert(held_.extract(sector));
    }
  }
  const int error = write_out();
  const std::scoped_lock lock(mutex_);
  flushing_.clear();
  return error;
}

/// Writes flushing_ to the backing file. The caller holds writing_out_, so that nobody changes it.
int VolatileCache::write_out() const {
  for (auto next = flushing_.begin(); next != flushing_.end();) {
    if (const int error = write_run(next)) return error;
  }
  return 0;
}

/// Writes neighbouring sectors together, from `next` on, which it moves behind them.
int VolatileCache::write_run(Sectors::const_iterator& next) const {
  const std::uint64_t first = next->first;
  const bool zeroes = next->second == nullptr;
  std::vector<std::byte> data;
  std::uint64_t sector = first;
  for (; next != flushing_.end() && next->first == sector && (next->second == nullptr) == zeroes &&
         data.size() < kRun * kSector;
       ++next, ++sector) {
    if (!zeroes) data.insert(data.end(), next->second->begin(), next->second->end());
  }
  if (!zeroes) return write_all(backing_.get(), data, first * kSector);
  const auto start = static_cast<off_t>(first * kSector);
  const auto length = static_cast<off_t>((sector - first) * kSector);
  return ::fallocate(backing_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length) == 0
             ? 0
             : errno;
}

VolatileCache::Counters VolatileCache::counters() {
  const std::scoped_lock lock(mutex_);
  return {.held = held_.size() + flushing_.size(), .lost = lost_.size(), .flushes = flushes_};
}

}  // namespace rdmablk::testing
