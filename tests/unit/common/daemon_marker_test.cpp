#include "common/daemon_marker.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "common/error.h"

namespace rdmablk {
namespace {

/// A device number that no mount has.
std::string test_device() {
  return "test:" + std::to_string(getpid());
}

/// Stands in for a daemon: marks itself and lives until it is told to end, or this object does.
class MarkedChild {
 public:
  /// @param user that the process runs as; takes root if it is another.
  explicit MarkedChild(const std::string& device, uid_t user = geteuid()) {
    int ready[2];
    int hold[2];
    if (pipe(ready) != 0 || pipe(hold) != 0) throw SystemError("make a pipe", errno);
    pid_ = fork();
    if (pid_ == 0) {
      if (user != geteuid() && setresuid(user, user, user) != 0) _exit(1);
      const DaemonMarker marker(device);
      close(hold[1]);
      char byte = 0;
      _exit(write(ready[1], &byte, 1) == 1 && read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ready[1]);
    close(hold[0]);
    hold_.reset(hold[1]);
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
  }
  ~MarkedChild() {
    end();
    EXPECT_EQ(waitpid(pid_, nullptr, 0), pid_);
  }
  MarkedChild(const MarkedChild&) = delete;
  MarkedChild& operator=(const MarkedChild&) = delete;

  pid_t pid() const { return pid_; }
  void end() { hold_.reset(); }

 private:
  pid_t pid_;
  UniqueFd hold_;
};

TEST(MountDaemon, IsNotFoundWithoutAMarker) {
  EXPECT_FALSE(MountDaemon::find(test_device()));
}

TEST(MountDaemon, IsFoundByItsMarker) {
  const MarkedChild child(test_device());
  const auto daemon = MountDaemon::find(test_device());
  ASSERT_TRUE(daemon);
  EXPECT_EQ(daemon->pid(), child.pid());
}

TEST(MountDaemon, IsNoStrangersProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "it takes root to become another user";
  const MarkedChild child(test_device(), 65534);
  EXPECT_FALSE(MountDaemon::find(test_device()));
}

TEST(MountDaemon, ServesOneMountAlone) {
  const MarkedChild child(test_device());
  std::string other = test_device();
  other.back() = 'x';
  EXPECT_FALSE(MountDaemon::find(other));
}

TEST(MountDaemon, IsWaitedFor) {
  MarkedChild child(test_device());
  const auto daemon = MountDaemon::find(test_device());
  ASSERT_TRUE(daemon);
  EXPECT_FALSE(daemon->wait_for_end(std::chrono::milliseconds(0)));
  child.end();
  EXPECT_TRUE(daemon->wait_for_end(std::chrono::seconds(30)));
  EXPECT_FALSE(MountDaemon::find(test_device()));
}

TEST(MountDaemon, CanBeLookedForAnyNumberOfTimes) {
  const MarkedChild child(test_device());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(MountDaemon::find(test_device())) << i;
}

TEST(DaemonMarker, IsHeldByOneProcess) {
  const DaemonMarker marker(test_device());
  EXPECT_THROW(DaemonMarker{test_device()}, SystemError);
}

TEST(DaemonMarker, GoesWithItsHolder) {
  { const DaemonMarker marker(test_device()); }
  EXPECT_NO_THROW(DaemonMarker{test_device()});
}

}  // namespace
}  // namespace rdmablk
