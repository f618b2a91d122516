// What becomes of programs that use a mount whose requests do not end. A test that fails hangs:
// ctest ends it.

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/mount_control.h"
#include "tests/unit/fuse/held_mount.h"

namespace rdmablk::fuse {
namespace {

using Mode = HeldSource::Mode;

/// dd catches SIGINT, so that its read or write is interrupted but not killed.
constexpr int kCaught = SIGINT;

class Interrupt : public HeldMount {};

TEST_F(Interrupt, EndsWhatWaitsForAConnection) {
  mount(1, 4);
  for (const int signal : {SIGKILL, kCaught}) {
    for (const bool writes : {false, true}) {
      source_->set_mode(Mode::waiting);
      const pid_t dd = start_dd(writes, 0);
      source_->wait_until_held(1);
      ::kill(dd, signal);
      wait_for(dd);
      EXPECT_EQ(source_->held(), 0U);
    }
  }
}

TEST_F(Interrupt, IsKeptUntilTheConnectionIsLost) {
  mount(2, 2);
  source_->set_mode(Mode::in_flight);
  const pid_t dd = start_dd(true, 0);
  source_->wait_until_held(1);
  ::kill(dd, SIGKILL);
  source_->wait_until_refused();
  source_->set_mode(Mode::waiting);
  wait_for(dd);
  EXPECT_EQ(source_->held(), 0U);
}

TEST_F(Interrupt, LeavesADeviceItsRequest) {
  mount(1, 4);
  source_->set_mode(Mode::in_flight);
  const pid_t dd = start_dd(true, 0);
  source_->wait_until_held(1);
  ::kill(dd, kCaught);
  source_->set_mode(Mode::done);
  EXPECT_EQ(wait_for(dd) & 0x7f, kCaught) << "dd ends itself with the signal that it caught";
}

TEST_F(Interrupt, EndsThemAllWhenSlotsAreFewer) {
  for (const int signal : {SIGKILL, kCaught}) {
    mount(2, 2);
    source_->set_mode(Mode::waiting);
    std::vector<pid_t> programs;
    for (std::size_t i = 0; i < 12; ++i) programs.push_back(start_dd(i % 2 == 0, i));
    source_->wait_until_held(4);
    for (const pid_t pid : programs) ::kill(pid, signal);
    for (const pid_t pid : programs) wait_for(pid);
    EXPECT_EQ(source_->held(), 0U);
    unmount();
  }
}

TEST_F(Interrupt, OfOneLetsTheOthersWait) {
  mount(1, 4);
  source_->set_byte(kBlock, std::byte{7});
  source_->set_mode(Mode::waiting);
  const pid_t killed = start_dd(true, 0);
  source_->wait_until_held(1);
  const pid_t other = start_dd(true, 1);
  source_->wait_until_held(2);
  ::kill(killed, SIGKILL);
  wait_for(killed);
  EXPECT_EQ(source_->held(), 1U);
  source_->set_mode(Mode::done);
  EXPECT_EQ(wait_for(other), 0);
  EXPECT_EQ(source_->byte(kBlock), std::byte{0});
}

/// Opens and asks for all that needs no data, as ls(1), df(1) and `rdmablk timeouts` do.
void expect_answers(const std::string& path) {
  struct statx status {};
  EXPECT_EQ(::statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status), 0);
  struct statvfs file_system {};
  EXPECT_EQ(::statvfs(path.c_str(), &file_system), 0);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(file);
  mount_control::Status answer{};
  EXPECT_EQ(::ioctl(file.get(), mount_control::kGetStatus, &answer), 0);
  EXPECT_EQ(answer.reconnects, 3U);
}

TEST_F(Interrupt, WaitingRequestsKeepTheMountAnswering) {
  mount(2, 2);
  source_->set_mode(Mode::waiting);
  for (std::size_t i = 0; i < 12; ++i) start_dd(i % 2 == 0, i);
  source_->wait_until_held(4);
  expect_answers(path_);
}

TEST_F(Interrupt, EndsWhatWaitsForASlot) {
  mount(2, 2);
  source_->set_mode(Mode::waiting);
  for (std::size_t i = 0; i < 4; ++i) start_dd(i % 2 == 0, i);
  source_->wait_until_held(4);
  std::vector<pid_t> programs;
  for (std::size_t i = 0; i < 8; ++i) programs.push_back(start_dd(i % 2 == 0, i));
  expect_answers(path_);  // so requests are read although there are no slots
  for (const pid_t pid : programs) ::kill(pid, kCaught);
  for (const pid_t pid : programs) wait_for(pid);
  EXPECT_EQ(source_->held(), 4U);
}

TEST_F(Interrupt, RequestsThatWaitedForASlotAreDoneInTheEnd) {
  mount(2, 2);
  constexpr std::size_t kPrograms = 16;
  for (std::size_t i = 0; i < kPrograms; ++i) source_->set_byte(i * kBlock, std::byte{0xff});
  source_->set_mode(Mode::waiting);
  std::vector<pid_t> programs;
  for (std::size_t i = 0; i < kPrograms; ++i) programs.push_back(start_dd(true, i));
  source_->wait_until_held(4);
  expect_answers(path_);  // they have been read by now
  source_->set_mode(Mode::done);
  for (const pid_t pid : programs) EXPECT_EQ(wait_for(pid), 0);
  for (std::size_t i = 0; i < kPrograms; ++i) EXPECT_EQ(source_->byte(i * kBlock), std::byte{0});
}

}  // namespace
}  // namespace rdmablk::fuse
