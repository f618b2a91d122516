// A send's completion comes before the completion of what the peer sent in answer to it: the ACK
// precedes the answer on the wire (InfiniBand specification, 9.7.5.1). The service waits for
// several sockets at once; that one has been ready for longer must not matter.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <stdexcept>

#include "common/softverbs/export.h"
#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

std::atomic<bool> g_latest_event_first{false};

}  // namespace
}  // namespace softverbs::test

/// Stands before the C library's, which promises no order among descriptors that are ready but
/// lists the oldest first, so that an unlucky order is rare.
extern "C" SOFTVERBS_EXPORT int epoll_wait(int epoll, epoll_event* events, int size, int timeout) {
  using Function = int (*)(int, epoll_event*, int, int);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "epoll_wait"));
  const int count = next(epoll, events, size, timeout);
  if (count > 1 && softverbs::test::g_latest_event_first.load()) {
    std::reverse(events, events + count);
  }
  return count;
}

namespace softverbs::test {
namespace {

/// One end of a connection; the other end's address comes through `wire`.
struct End {
  End(Wire& wire, const Limits& limits) : endpoint(context.get(), limits) {
    wire.send(endpoint.address());
    endpoint.connect(wire.receive<Address>());
    wire.send('r');
    wire.receive<char>();
  }
  void receive() const { EXPECT_EQ(endpoint.receive(buffer.sge()), 0); }
  void send() {
    ibv_sge sge = buffer.sge();
    EXPECT_EQ(endpoint.post(send_request(&sge)), 0);
  }
  ibv_wc_opcode next() const {
    const ibv_wc completion = endpoint.wait();
    if (completion.status != IBV_WC_SUCCESS) {
      throw std::runtime_error(ibv_wc_status_str(completion.status));
    }
    return completion.opcode;
  }

  Owned<ibv_context> context = open_device();
  Endpoint endpoint;
  Buffer buffer{endpoint.pd, 16};
};

void expect_success(ChildProcess& one, ChildProcess& other) {
  // When the first has failed, the other waits for it in vain; the destructor ends it.
  ASSERT_EQ(one.join(), 0);
  EXPECT_EQ(other.join(), 0);
}

/// Lets two children connect to each other.
void introduce(ChildProcess& one, ChildProcess& other) {
  const auto address = one.wire().receive<Address>();
  one.wire().send(other.wire().receive<Address>());
  other.wire().send(address);
  const char ready = one.wire().receive<char>();
  one.wire().send(other.wire().receive<char>());
  other.wire().send(ready);
}

/// `count` requests are sent while the answerer is stopped; it receives them all and answers once
/// while the asker is. When the asker goes on, the acknowledgements and the answer are all there.
void ask_and_answer(int rounds, uint32_t count) {
  Limits limits;
  limits.send_wr = limits.receive_wr = count;
  limits.cqe = static_cast<int>(2 * count);
  ChildProcess asker([&](Wire& wire) {
    End end(wire, limits);
    for (int round = 0; round < rounds; ++round) {
      g_latest_event_first = round % 2 == 0;
      end.receive();
      wire.receive<char>();
      for (uint32_t i = 0; i < count; ++i) end.send();
      wire.send('s');
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(end.next(), IBV_WC_SEND) << "completion " << i << " of round " << round;
      }
      ASSERT_EQ(end.next(), IBV_WC_RECV) << "round " << round;
    }
  });
  ChildProcess answerer([&](Wire& wire) {
    End end(wire, limits);
    for (int round = 0; round < rounds; ++round) {
      for (uint32_t i = 0; i < count; ++i) end.receive();
      wire.send('p');
      for (uint32_t i = 0; i < count; ++i) ASSERT_EQ(end.next(), IBV_WC_RECV);
      end.send();
      wire.send('a');
      ASSERT_EQ(end.next(), IBV_WC_SEND);
    }
  });
  introduce(asker, answerer);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(answerer.wire().receive<char>(), 'p');
    answerer.signal(SIGSTOP);
    asker.wire().send('g');
    ASSERT_EQ(asker.wire().receive<char>(), 's');
    asker.signal(SIGSTOP);
    answerer.signal(SIGCONT);
    ASSERT_EQ(answerer.wire().receive<char>(), 'a');
    asker.signal(SIGCONT);
  }
  expect_success(asker, answerer);
}

TEST(CompletionOrder, ASendCompletesBeforeItsAnswerArrives) {
  ask_and_answer(20, 1);
}

TEST(CompletionOrder, AlsoWhenTheAcknowledgementsDoNotFitIntoTheSocket) {
  ask_and_answer(4, 350);
}

TEST(CompletionOrder, ASendQueueOfOneIsEnoughForPingPong) {
  constexpr int kRounds = 5000;
  Limits limits;
  limits.send_wr = 1;
  const auto body = [&](Wire& wire, bool starts) {
    g_latest_event_first = true;
    End end(wire, limits);
    end.receive();
    wire.send('p');
    wire.receive<char>();
    int posted = 0;
    int sent = 0;
    int received = 0;
    const auto send = [&] {
      ++posted;
      end.send();
    };
    if (starts) send();
    while (sent < kRounds || received < kRounds) {
      if (end.next() == IBV_WC_SEND) {
        ++sent;
        continue;
      }
      ++received;
      ASSERT_EQ(sent, posted) << "at the receive completion of message " << received;
      if (received < kRounds) end.receive();
      if (posted < kRounds) send();
      if (testing::Test::HasFailure()) return;
    }
  };
  ChildProcess one([&](Wire& wire) { body(wire, true); });
  ChildProcess other([&](Wire& wire) { body(wire, false); });
  introduce(one, other);
  const char ready = one.wire().receive<char>();
  one.wire().send(other.wire().receive<char>());
  other.wire().send(ready);
  expect_success(one, other);
}

}  // namespace
}  // namespace softverbs::test
