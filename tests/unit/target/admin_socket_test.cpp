#include "target/admin_socket.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "error_of.h"
#include "fake_administration.h"
#include "scratch_directory.h"
#include "target/admin_place.h"

namespace rdmablk::target {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kStatus = R"({"version":1,"request":"status"})";

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

UniqueFd connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0)
      << path;
  return socket;
}

class AdminSocketTest : public ::testing::Test {
 protected:
  void open(const AdminLimits& limits = {}) {
    place_.emplace(path_, "", std::nullopt);
    socket_.emplace(io_, place_->release(), service_, limits);
  }

  /// Runs the loop as long as it has something to do at once.
  void settle() {
    while (io_.poll() > 0) {
    }
    io_.restart();
  }

  void say(const UniqueFd& user, const std::string& text) {
    EXPECT_EQ(::send(user.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    settle();
  }

  /// What has come by now.
  std::string hear(const UniqueFd& user) {
    std::string text(1U << 16U, '\0');
    const ssize_t got = ::recv(user.get(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  bool is_closed(const UniqueFd& user) {
    char byte = 0;
    return ::recv(user.get(), &byte, 1, MSG_DONTWAIT) == 0 || errno != EAGAIN;
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.path("target.sock");
  asio::io_context io_{1};
  FakeAdministration target_;
  TargetFacts facts_;
  AdminService service_{target_, facts_, nullptr};
  std::optional<AdminPlace> place_;
  std::optional<AdminSocket> socket_;
};

TEST_F(AdminSocketTest, AnswersOneLineAfterTheOther) {
  open();
  const UniqueFd user = connect_to(path_);
  say(user, std::string(kStatus) + "\n" + R"({"version":1,"id":2,"request":"exports"})" + "\n{\n");
  const std::string heard = hear(user);
  EXPECT_THAT(heard, HasSubstr("\"status\":"));
  EXPECT_THAT(heard, HasSubstr("\"id\":2,\"exports\":[]}\n"));
  EXPECT_THAT(heard, HasSubstr("\"error\":\"a request is a JSON object"));
  EXPECT_FALSE(is_closed(user));
}

TEST_F(AdminSocketTest, TakesALineInPieces) {
  open();
  const UniqueFd user = connect_to(path_);
  const std::string line = std::string(kStatus) + "\n";
  say(user, line.substr(0, 9));
  EXPECT_EQ(hear(user), "");
  say(user, line.substr(9));
  EXPECT_THAT(hear(user), HasSubstr("\"status\":"));
}

TEST_F(AdminSocketTest, ReadsNoMoreWhileItWorks) {
  target_.is_slow = true;
  open();
  const UniqueFd user = connect_to(path_);
  const std::string line = std::string(R"({"version":1,"request":"reload"})") + "\n";
  say(user, line + line);
  EXPECT_EQ(target_.pending.size(), 1U);
  ::shutdown(user.get(), SHUT_WR);
  target_.pending[0]("no");
  settle();
  EXPECT_THAT(hear(user), HasSubstr("\"error\":\"no\""));
  ASSERT_EQ(target_.pending.size(), 2U);
  target_.pending[1](std::nullopt);
  settle();
  EXPECT_THAT(hear(user), HasSubstr("\"done\":true"));
  EXPECT_TRUE(is_closed(user));
}

TEST_F(AdminSocketTest, BearsThatWhoAskedHasGone) {
  target_.is_slow = true;
  open();
  UniqueFd user = connect_to(path_);
  say(user, "{\"version\":1,\"request\":\"reload\"}\n");
  user.reset();
  settle();
  target_.pending[0](std::nullopt);
  settle();
  EXPECT_EQ(socket_->connections(), 0U);
}

TEST_F(AdminSocketTest, BearsThatItHasGoneItself) {
  target_.is_slow = true;
  open();
  const UniqueFd user = connect_to(path_);
  say(user, "{\"version\":1,\"request\":\"reload\"}\n");
  socket_.reset();
  settle();
  target_.pending[0](std::nullopt);
  EXPECT_TRUE(is_closed(user));
}

TEST_F(AdminSocketTest, RefusesALineThatIsTooLong) {
  AdminLimits limits;
  limits.line = 100;
  open(limits);
  const UniqueFd user = connect_to(path_);
  say(user, std::string(300, 'x'));
  EXPECT_THAT(hear(user), HasSubstr("longer than 100 bytes"));
  EXPECT_TRUE(is_closed(user));
}

TEST_F(AdminSocketTest, EndsAConnectionThatAsksTooMuch) {
  AdminLimits limits;
  limits.requests = 2;
  open(limits);
  const UniqueFd user = connect_to(path_);
  say(user, "{}\n{}\n{}\n");
  const std::string heard = hear(user);
  EXPECT_EQ(std::count(heard.begin(), heard.end(), '\n'), 2);
  EXPECT_TRUE(is_closed(user));
}

TEST_F(AdminSocketTest, BoundsConnections) {
  AdminLimits limits;
  limits.connections = 1;
  open(limits);
  UniqueFd first = connect_to(path_);
  settle();
  const UniqueFd second = connect_to(path_);
  settle();
  EXPECT_THAT(hear(second), HasSubstr("1 connections to this socket already"));
  EXPECT_TRUE(is_closed(second));
  first.reset();
  settle();
  const UniqueFd third = connect_to(path_);
  say(third, std::string(kStatus) + "\n");
  EXPECT_THAT(hear(third), HasSubstr("\"status\":"));
}

TEST_F(AdminSocketTest, CutsOffWhoIsTooSlow) {
  AdminLimits limits;
  limits.patience = std::chrono::milliseconds(1);
  open(limits);
  const UniqueFd user = connect_to(path_);
  const std::string half = R"({"version")";
  ASSERT_EQ(::send(user.get(), half.data(), half.size(), 0), static_cast<ssize_t>(half.size()));
  io_.run_one();
  while (socket_->connections() > 0) io_.run_one();
  EXPECT_TRUE(is_closed(user));
}

class AdminPlaceTest : public ::testing::Test {
 protected:
  std::string error(std::optional<pid_t> predecessor = {}, const std::string& group = "") {
    return error_of<Error>([&] { AdminPlace(path_, group, predecessor); });
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.path("target.sock");
};

TEST_F(AdminPlaceTest, IsForItsUserAlone) {
  {
    const AdminPlace place(path_, "", std::nullopt);
    EXPECT_EQ(mode_of(path_), 0600U);
  }
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(AdminPlaceTest, IsForAGroup) {
  const group* const own = ::getgrgid(::getegid());
  if (own == nullptr) GTEST_SKIP() << "this group has no name";
  const AdminPlace place(path_, own->gr_name, std::nullopt);
  EXPECT_EQ(mode_of(path_), 0660U);
}

TEST_F(AdminPlaceTest, KnowsGroups) {
  EXPECT_THAT(error({}, "no-such-group"), HasSubstr("`groupadd --system no-such-group`"));
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(AdminPlaceTest, ReplacesADeadOne) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto* const place = new AdminPlace(path_, "", std::nullopt);
    ::_exit(place == nullptr ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  ASSERT_NE(mode_of(path_), 0U);
  const AdminPlace place(path_, "", std::nullopt);
  connect_to(path_);
}

TEST_F(AdminPlaceTest, LeavesALiveOneAlone) {
  const AdminPlace place(path_, "", std::nullopt);
  EXPECT_THAT(error(), HasSubstr("process " + std::to_string(::getpid()) + " listens there"));
  EXPECT_EQ(mode_of(path_), 0600U);
}

TEST_F(AdminPlaceTest, SucceedsALiveOne) {
  std::optional<AdminPlace> first;
  first.emplace(path_, "", std::nullopt);
  const AdminPlace second(path_, "", ::getpid());
  first.reset();
  connect_to(path_);  // the first has left what is the second's
}

TEST_F(AdminPlaceTest, LeavesOtherFilesAlone) {
  scratch_.make("target.sock", 0);
  EXPECT_THAT(error(), HasSubstr("something else than a socket"));
  EXPECT_NE(mode_of(path_), 0U);
}

TEST_F(AdminPlaceTest, TellsWhatIsWrong) {
  path_ = scratch_.path("none/target.sock");
  EXPECT_THAT(error(), HasSubstr("No such file or directory; choose another place"));
  path_ = scratch_.path(std::string(120, 'x'));
  EXPECT_THAT(error(), HasSubstr("99 are the most"));
}

}  // namespace
}  // namespace rdmablk::target
