#include "common/softverbs/faults/fault_source.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "common/softverbs/file_descriptor.h"

namespace softverbs {
namespace {

constexpr std::chrono::milliseconds kLookEvery{5};

std::string read_file(const std::string& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw std::invalid_argument("cannot read " + path + ": " + std::strerror(errno));
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = read(fd.get(), piece.data(), piece.size());
    if (got < 0) throw std::invalid_argument("cannot read " + path + ": " + std::strerror(errno));
    if (got == 0) return text;
    text.append(piece.data(), static_cast<size_t>(got));
  }
}

bool same_time(const timespec& one, const timespec& other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

}  // namespace

FaultSource::FaultSource(std::string specification) : specification_(std::move(specification)) {}

FaultPlan FaultSource::read() {
  if (!is_file()) return FaultPlan::parse(specification_);
  looks_new();  // First: what changes while it is read is read again.
  return FaultPlan::parse(read_file(path()));
}

std::optional<FaultPlan> FaultSource::changed(bool at_once) {
  if (!is_file()) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  if (now < look_at_ && !at_once) return std::nullopt;
  look_at_ = now + kLookEvery;
  if (!looks_new()) return std::nullopt;
  try {
    return FaultPlan::parse(read_file(path()));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "softverbs: SOFTVERBS_FAULTS: %s; the faults stay as they were\n",
                 error.what());
    return std::nullopt;
  }
}

bool FaultSource::looks_new() {
  struct stat now {};
  // A file that is being replaced may be absent for a moment.
  if (stat(path().c_str(), &now) != 0) return false;
  const bool same = now.st_ino == seen_.st_ino && now.st_size == seen_.st_size &&
                    same_time(now.st_mtim, seen_.st_mtim);
  seen_ = now;
  return !same;
}

}  // namespace softverbs
