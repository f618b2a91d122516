#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "fuse/mount.h"
#include "tests/unit/fuse/held_source.h"

namespace rdmablk::fuse {

/// A mount of a HeldSource, served by this process, and programs that use it. Skips its tests where
/// nothing can be mounted.
class HeldMount : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 1U << 20U;
  static constexpr std::size_t kBlock = 4096;

  void SetUp() override {
    if (::geteuid() != 0 || ::access("/dev/fuse", R_OK | W_OK) != 0) {
      GTEST_SKIP() << "it takes root and /dev/fuse to mount";
    }
    std::string path = testing::TempDir() + "rdmablk-held-XXXXXX";
    const UniqueFd file(::mkstemp(path.data()));
    ASSERT_TRUE(file);
    path_ = std::filesystem::canonical(path);
  }

  void TearDown() override {
    if (source_ != nullptr) source_->set_mode(HeldSource::Mode::done);
    for (const pid_t pid : programs_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    mount_.reset();
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  /// Mounts, with so many slots for all workers.
  void mount(unsigned workers, unsigned depth) {
    Options options;
    options.null_size = kSize;
    options.mount_point = path_;
    options.mount.allow_other = true;  // the kernel lets other users ask, too
    auto source = std::make_unique<HeldSource>(kSize, WorkerPlan{workers, depth});
    source_ = source.get();
    mount_.emplace();
    std::string note;
    mount_->start(std::move(source), options, prepare_mount_point(path_, note));
  }

  /// Ends the mount. @return what Mount::stop() says.
  bool unmount() {
    source_ = nullptr;
    return mount_->stop();
  }

  /// Starts dd(1), which reads or writes one block.
  pid_t start_dd(bool writes, std::size_t block) {
    const std::string from = writes ? "if=/dev/zero" : "if=" + path_;
    const std::string to = writes ? "of=" + path_ : "of=/dev/null";
    const std::string place = (writes ? "seek=" : "skip=") + std::to_string(block);
    std::vector<std::string> words{"dd",      from,           to,           place, "bs=4096",
                                   "count=1", "conv=notrunc", "status=none"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    EXPECT_EQ(::posix_spawnp(&pid, "dd", &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    programs_.push_back(pid);
    return pid;
  }

  /// Waits for the end of a program. @return its status, of waitpid(2).
  int wait_for(pid_t pid) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    std::erase(programs_, pid);
    return status;
  }

  std::string path_;
  HeldSource* source_ = nullptr;
  std::optional<Mount> mount_;
  std::vector<pid_t> programs_;
};

}  // namespace rdmablk::fuse
