#include "common/captive/captive_command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk {
namespace {

/// What runs here forks, which the test program's own threads do not mind: it has none.
class CaptiveCommandTest : public testing::Test {
 protected:
  CaptiveCommandTest() {
    std::string pattern = testing::TempDir() + "captive-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~CaptiveCommandTest() override { std::filesystem::remove_all(directory_); }

  static int wait(CaptiveCommand& command) {
    pollfd source{command.fd(), POLLIN, 0};
    while (::poll(&source, 1, -1) < 0) {
    }
    return command.status();
  }

  static int run(const std::string& text) {
    CaptiveCommand command(text);
    command.start({});
    return wait(command);
  }

  std::string file(const std::string& name) const { return directory_ + "/" + name; }

  static std::string content(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// A pipe's end that is closed when every process that has the other one is gone.
  std::string fifo(const std::string& name = "fifo") {
    const std::string path = file(name);
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  std::string directory_;
};

TEST_F(CaptiveCommandTest, EndsWithTheStatusOfTheCommand) {
  EXPECT_EQ(run("exit 7"), 7);
  EXPECT_EQ(run("true"), 0);
  EXPECT_EQ(run("kill -KILL $$"), 128 + SIGKILL);
  EXPECT_EQ(run("/nonexistent 2>/dev/null"), 127);
}

TEST_F(CaptiveCommandTest, HasItsVariables) {
  CaptiveCommand command("printf '%s|%s' \"$uri\" \"$exports\" >" + file("out"));
  command.start({{"uri", "rdmablk://a/b c"}, {"exports", "x=y\nz"}});
  EXPECT_EQ(wait(command), 0);
  EXPECT_EQ(content(file("out")), "rdmablk://a/b c|x=y\nz");
}

TEST_F(CaptiveCommandTest, KnowsNothingOfTheServiceManager) {
  ::setenv("NOTIFY_SOCKET", "/nonexistent", 1);
  ::setenv("LISTEN_FDS", "1", 1);
  EXPECT_EQ(run("test -z \"$NOTIFY_SOCKET$LISTEN_FDS\""), 0);
  EXPECT_STREQ(::getenv("LISTEN_FDS"), "1") << "the program itself does";
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("LISTEN_FDS");
}

TEST_F(CaptiveCommandTest, HasNoDescriptorsButTheStandardOnes) {
  const int extra = ::dup(STDERR_FILENO);  // without O_CLOEXEC
  EXPECT_EQ(run(R"(for fd in /proc/self/fd/*; do
                     case ${fd##*/} in 0|1|2) ;; *) test ! -e "$fd" || exit 1 ;; esac
                   done)"),
            0);
  ::close(extra);
}

TEST_F(CaptiveCommandTest, HasItsSignalsAsUsual) {
  EXPECT_EQ(run("kill -INT $$"), 128 + SIGINT) << "the keeper ignores it";
  EXPECT_EQ(run("kill -TERM $$"), 128 + SIGTERM) << "the keeper has it blocked";
}

TEST_F(CaptiveCommandTest, GetsSignals) {
  const std::string ready = fifo();
  CaptiveCommand command("trap 'exit 9' TERM; : >" + ready + "; while :; do sleep 0.01; done");
  command.start({});
  content(ready);  // returns when the trap is set
  command.signal(SIGTERM);
  EXPECT_EQ(wait(command), 9);
}

TEST_F(CaptiveCommandTest, LeavesNoChildrenBehind) {
  const std::string alive = fifo();
  const UniqueFd reader(::open(alive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  CaptiveCommand command("exec 9>" + alive +
                         "; setsid sleep 1000 & (sleep 1000 & sleep 1000) & exit 3");
  command.start({});
  EXPECT_EQ(wait(command), 3);
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "nobody has the other end";
}

TEST_F(CaptiveCommandTest, IsEndedWithTheProgram) {
  const std::string ready = fifo();
  auto command = std::make_unique<CaptiveCommand>("exec 9>" + ready + "; sleep 1000");
  command->start({});
  const UniqueFd fd(::open(ready.c_str(), O_RDONLY | O_CLOEXEC));
  command.reset();
  char byte = 0;
  EXPECT_EQ(::read(fd.get(), &byte, 1), 0) << "nobody has the other end";
}

TEST_F(CaptiveCommandTest, NeverRunsUnlessItIsStarted) {
  { const CaptiveCommand command(": >" + file("out")); }
  EXPECT_FALSE(std::filesystem::exists(file("out")));
}

/// The program, in a process of its own, which is killed while the command runs.
TEST_F(CaptiveCommandTest, IsEndedWhenTheProgramIsKilled) {
  const std::string alive = fifo();
  const std::string cleaned = fifo("cleaned");
  const pid_t program = ::fork();
  if (program == 0) {
    CaptiveCommand command("exec 9>" + alive + "; setsid sleep 1000 & sleep 1000",
                           [&] { std::ofstream(cleaned) << "yes"; });
    command.start({});
    ::pause();
    ::_exit(0);
  }
  const UniqueFd fd(::open(alive.c_str(), O_RDONLY | O_CLOEXEC));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  char byte = 0;
  EXPECT_EQ(::read(fd.get(), &byte, 1), 0) << "all that had the other end are gone";
  EXPECT_EQ(content(cleaned), "yes");
}

TEST_F(CaptiveCommandTest, IsEndedWhenItsKeeperIsKilled) {
  const std::string alive = fifo();
  CaptiveCommand command("exec 9>" + alive + "; echo $PPID >&9; setsid sleep 1000 & sleep 1000");
  command.start({});
  std::ifstream reader(alive);
  pid_t keeper = 0;
  ASSERT_TRUE(reader >> keeper);
  ::kill(keeper, SIGKILL);
  EXPECT_EQ(wait(command), 1);
  std::string rest;
  EXPECT_FALSE(reader >> rest) << "all that had the other end are gone";
}

/// Takes as long as such a process is waited for.
TEST_F(CaptiveCommandTest, EndsWhatDoesNotEndWhenItIsAsked) {
  const std::string alive = fifo();
  const UniqueFd reader(::open(alive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  CaptiveCommand command("exec 9>" + alive + "; (trap '' TERM; : >" + file("deaf") +
                         "; while :; do sleep 1000; done) & "
                         "until test -e " +
                         file("deaf") + "; do sleep 0.01; done; exit 3");
  command.start({});
  EXPECT_EQ(wait(command), 3);
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "nobody has the other end";
}

}  // namespace
}  // namespace rdmablk
