// The peer's process dies by SIGKILL, in every step of the handshake.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

/// Runs softverbs_cm_peer; kills it at the end at the latest.
class PeerProcess {
 public:
  explicit PeerProcess(std::vector<std::string> arguments) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    arguments.insert(arguments.begin(), SOFTVERBS_CM_PEER);
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int error = posix_spawn(&pid_, raw[0], &actions, nullptr, raw.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
    if (error != 0) throw std::runtime_error("posix_spawn " + arguments[0]);
  }
  ~PeerProcess() {
    kill_now();
    close(output_);
  }
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  std::string line() {
    std::string text;
    for (;;) {
      pollfd waiting{output_, POLLIN, 0};
      char letter = 0;
      if (poll(&waiting, 1, 20'000) != 1 || read(output_, &letter, 1) != 1) {
        throw std::runtime_error("the peer said no more than '" + text + "'");
      }
      if (letter == '\n') return text;
      text += letter;
    }
  }

  uint16_t port() { return static_cast<uint16_t>(std::stoi(line().substr(5))); }
  void await(const std::string& step) { EXPECT_EQ("at " + step, line()); }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

void connect(const IdPtr& id) {
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_connect(id.get(), &parameter));
}

void accept(const IdPtr& id) {
  make_qp(id.get());
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_accept(id.get(), &parameter));
}

/// This end is active, the process is passive.
struct AgainstPassive {
  explicit AgainstPassive(const std::string& step)
      : process({"passive", step}), port(process.port()) {
    active = make_resolved(channel, "127.0.0.1", port);
    make_qp(active.get());
  }
  PeerProcess process;
  uint16_t port;
  ChannelPtr channel = make_channel();
  IdPtr active;
};

/// This end is passive, the process is active.
struct AgainstActive {
  explicit AgainstActive(const std::string& step)
      : process({"active", step, std::to_string(port_of(listener))}) {}
  void take_request() { passive.reset(expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id); }
  void establish() {
    take_request();
    accept(passive);
    expect_event(channel, RDMA_CM_EVENT_ESTABLISHED);
  }
  ChannelPtr channel = make_channel();
  IdPtr listener = make_listener(channel, "127.0.0.1");
  IdPtr passive;
  PeerProcess process;
};

void expect_disconnected(const ChannelPtr& channel, const IdPtr& id) {
  EXPECT_EQ(0, expect_event(channel, RDMA_CM_EVENT_DISCONNECTED)->status);
  EXPECT_EQ(0, rdma_disconnect(id.get()));
  expect_event(channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
  EXPECT_FALSE(has_event(channel));
}

TEST(PassiveDies, Listening) {
  AgainstPassive test("listen");
  test.process.await("listen");
  test.process.kill_now();
  connect(test.active);
  expect_rejected(test.channel, kInvalidServiceId);
}

TEST(PassiveDies, BeforeReadingTheRequest) {
  AgainstPassive test("unread");
  connect(test.active);
  test.process.await("unread");
  test.process.kill_now();
  expect_rejected(test.channel, kConsumerDefined);
}

TEST(PassiveDies, BeforeAnsweringTheRequest) {
  AgainstPassive test("request");
  connect(test.active);
  test.process.await("request");
  test.process.kill_now();
  expect_rejected(test.channel, kConsumerDefined);
}

TEST(PassiveDies, BeforeItsReplyWasRead) {
  AgainstPassive test("accepted");
  connect(test.active);
  test.process.await("accepted");
  test.process.kill_now();
  // Whether the reply is read before the death is seen is open; either way it ends.
  const EventPtr first = next_event(test.channel);
  if (first->event == RDMA_CM_EVENT_CONNECT_ERROR) return;
  EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, first->event);
  expect_disconnected(test.channel, test.active);
}

TEST(PassiveDies, Established) {
  AgainstPassive test("established");
  connect(test.active);
  expect_event(test.channel, RDMA_CM_EVENT_ESTABLISHED);
  test.process.await("established");
  test.process.kill_now();
  expect_disconnected(test.channel, test.active);
}

TEST(PassiveDies, Disconnecting) {
  AgainstPassive test("disconnecting");
  connect(test.active);
  expect_event(test.channel, RDMA_CM_EVENT_ESTABLISHED);
  test.process.await("disconnecting");
  test.process.kill_now();
  expect_disconnected(test.channel, test.active);
}

TEST(PassiveDies, BeforeAnsweringADisconnect) {
  AgainstPassive test("disconnected");
  connect(test.active);
  expect_event(test.channel, RDMA_CM_EVENT_ESTABLISHED);
  ASSERT_EQ(0, rdma_disconnect(test.active.get()));
  test.process.await("disconnected");
  EXPECT_FALSE(has_event(test.channel));
  test.process.kill_now();
  expect_disconnected(test.channel, test.active);
}

TEST(ActiveDies, BeforeItsRequestWasRead) {
  AgainstActive test("connecting");
  test.process.await("connecting");
  await_event(test.channel);
  test.process.kill_now();
  test.take_request();
  const EventPtr event = expect_event(test.channel, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(test.passive.get(), event->id);
  EXPECT_EQ(kTimeout, event->status);
}

TEST(ActiveDies, BeforeItsRequestWasAnswered) {
  AgainstActive test("connecting");
  test.process.await("connecting");
  test.take_request();
  test.process.kill_now();
  expect_rejected(test.channel, kTimeout);
  make_qp(test.passive.get());
  EXPECT_EQ(-1, rdma_accept(test.passive.get(), nullptr));
  EXPECT_EQ(EINVAL, errno);
}

TEST(ActiveDies, BeforeReadingTheReply) {
  AgainstActive test("response");
  test.take_request();
  accept(test.passive);
  test.process.await("response");
  test.process.kill_now();
  expect_rejected(test.channel, kConsumerDefined);
}

TEST(ActiveDies, Established) {
  AgainstActive test("established");
  test.establish();
  test.process.await("established");
  test.process.kill_now();
  expect_disconnected(test.channel, test.passive);
}

TEST(ActiveDies, Disconnecting) {
  AgainstActive test("disconnecting");
  test.establish();
  test.process.await("disconnecting");
  test.process.kill_now();
  expect_disconnected(test.channel, test.passive);
}

TEST(ActiveDies, BeforeAnsweringADisconnect) {
  AgainstActive test("disconnected");
  test.establish();
  ASSERT_EQ(0, rdma_disconnect(test.passive.get()));
  test.process.await("disconnected");
  EXPECT_FALSE(has_event(test.channel));
  test.process.kill_now();
  expect_disconnected(test.channel, test.passive);
}

}  // namespace
}  // namespace softverbs::cm_test
