// The other end of a connection, for tests in which it dies: it goes up to one step of the
// handshake, says so on standard output, and waits there to be killed.
//
//   softverbs_cm_peer passive STEP        listen unread request accepted established disconnecting
//                                         disconnected; prints "port N" first
//   softverbs_cm_peer active STEP PORT    connecting response established disconnecting
//                                         disconnected

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

class Steps {
 public:
  explicit Steps(std::string last) : last_(std::move(last)) {}
  /// Waits for the end when `step` is the last one.
  void at(const char* step) const {
    if (last_ != step) return;
    say("at " + last_);
    for (;;) pause();
  }

 private:
  std::string last_;
};

void after_connection(const Steps& steps, const ChannelPtr& channel, const IdPtr& id) {
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED);
  steps.at("established");
  // With "disconnected" as the last step it is the other end that begins.
  await_event(channel);
  expect_event(channel, RDMA_CM_EVENT_DISCONNECTED);
  steps.at("disconnected");
  rdma_disconnect(id.get());
}

void disconnect_first(const Steps& steps, const ChannelPtr& channel, const IdPtr& id) {
  expect_event(channel, RDMA_CM_EVENT_ESTABLISHED);
  rdma_disconnect(id.get());
  steps.at("disconnecting");
}

void finish(const std::string& last, const Steps& steps, const ChannelPtr& channel,
            const IdPtr& id) {
  if (last == "disconnecting") {
    disconnect_first(steps, channel, id);
  } else {
    after_connection(steps, channel, id);
  }
}

void be_passive(const std::string& last) {
  const Steps steps(last);
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(channel, "127.0.0.1");
  say("port " + std::to_string(port_of(listener)));
  steps.at("listen");
  await_event(channel);
  steps.at("unread");
  const IdPtr id(expect_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  make_qp(id.get());
  steps.at("request");
  rdma_conn_param parameter = parameters();
  rdma_accept(id.get(), &parameter);
  steps.at("accepted");
  finish(last, steps, channel, id);
}

void be_active(const std::string& last, uint16_t port) {
  const Steps steps(last);
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", port);
  make_qp(id.get());
  rdma_conn_param parameter = parameters();
  rdma_connect(id.get(), &parameter);
  steps.at("connecting");
  await_event(channel);
  steps.at("response");
  finish(last, steps, channel, id);
}

}  // namespace
}  // namespace softverbs::cm_test

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string side = argc > 2 ? argv[1] : "";
  if (side == "passive") {
    softverbs::cm_test::be_passive(argv[2]);
  } else if (side == "active" && argc > 3) {
    softverbs::cm_test::be_active(argv[2], static_cast<uint16_t>(std::stoi(argv[3])));
  } else {
    return 2;
  }
  return 0;
}
