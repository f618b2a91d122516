#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

namespace softverbs::test {

inline constexpr size_t kSize = 1 << 20;
inline constexpr size_t kPage = 4096;
inline constexpr const char* kSharedName = "softverbs-mapped-test";

/// How memory is made.
struct Kind {
  int seals = F_SEAL_SHRINK;
  int sharing = MAP_SHARED;
  size_t file_offset = 0;
  bool keeps_descriptor = true;
  bool in_two_pieces = false;
};

/// Memory in a memfd.
class SharedMemory {
 public:
  explicit SharedMemory(const Kind& kind = {}) {
    fd_ = memfd_create(kSharedName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(kind.file_offset + kSize)), 0);
    EXPECT_EQ(fcntl(fd_, F_ADD_SEALS, kind.seals), 0);
    map(kind);
    if (!kind.keeps_descriptor) close(std::exchange(fd_, -1));
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    munmap(data_, kSize);
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] char* data() const { return data_; }

 private:
  void map(const Kind& kind) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    const auto offset = static_cast<off_t>(kind.file_offset);
    data_ = static_cast<char*>(mmap(nullptr, kSize, kProtection, kind.sharing, fd_, offset));
    ASSERT_NE(data_, MAP_FAILED);
    if (!kind.in_two_pieces) return;
    // The second half shows the first half of the file again.
    const size_t half = kSize / 2;
    ASSERT_NE(mmap(data_ + half, half, kProtection, kind.sharing | MAP_FIXED, fd_, offset),
              MAP_FAILED);
  }

  int fd_ = -1;
  char* data_ = nullptr;
};

}  // namespace softverbs::test
