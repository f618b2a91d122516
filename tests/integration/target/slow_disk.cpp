#include "slow_disk.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "common/error.h"

namespace rdmablk::testing {
namespace {

/// Both programs are built into one folder.
std::string program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rdmablk-forgetful-fs";
}

}  // namespace

bool SlowDisk::is_possible() {
  return ::access("/dev/fuse", R_OK | W_OK) == 0 && ::geteuid() == 0;
}

SlowDisk::SlowDisk(std::uint64_t size) : mount_point_(scratch_.path("mnt")) {
  std::filesystem::create_directory(mount_point_);
  const std::string backing = scratch_.make("backing", size);
  pid_ = ::fork();
  if (pid_ < 0) throw SystemError("fork", errno);
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::unsetenv("LD_PRELOAD");
    ::execl(program().c_str(), program().c_str(), mount_point_.c_str(), backing.c_str(), nullptr);
    ::_exit(127);
  }
  while (!std::filesystem::exists(path())) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) throw Error("the slow disk did not start");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

SlowDisk::~SlowDisk() {
  ::umount2(mount_point_.c_str(), MNT_DETACH);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void SlowDisk::delay_writes(std::chrono::milliseconds time) const {
  std::ofstream(mount_point_ + "/control") << "delay write " << time.count() << std::endl;
}

void SlowDisk::wait_for_write() const {
  while (count("writes") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

long SlowDisk::count(const std::string& what) const {
  std::ifstream control(mount_point_ + "/control");
  std::string word;
  while (control >> word) {
    if (word.starts_with(what + "=")) return std::stol(word.substr(what.size() + 1));
  }
  return -1;
}

}  // namespace rdmablk::testing
