#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {

/// A file whose writes take as long as a test wants: that of rdmablk-forgetful-fs.
class SlowDisk {
 public:
  /// Mounts it. @param size bytes. Throws Error when it does not come.
  explicit SlowDisk(std::uint64_t size);
  ~SlowDisk();
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;

  /// Whether this host has what it takes: a skipped test otherwise.
  static bool is_possible();

  std::string path() const { return mount_point_ + "/disk"; }

  /// From now on.
  void delay_writes(std::chrono::milliseconds time) const;

  /// Waits until it has been asked to write for the first time.
  void wait_for_write() const;

  /// Whether a write is through.
  bool is_written() const { return count("held") > 0; }

 private:
  long count(const std::string& what) const;

  target::ScratchDirectory scratch_;
  std::string mount_point_;
  pid_t pid_ = -1;
};

}  // namespace rdmablk::testing
