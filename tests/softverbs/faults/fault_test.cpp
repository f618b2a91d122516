// What each fault does to queue pairs and completion queues.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "tests/softverbs/faults/with_faults.h"
#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

/// Two connected ends; `a` has memory to write from and `b` memory to write to, of 8-byte words.
struct Bench {
  Owned<ibv_context> context = open_device();
  Pair pair;
  Buffer local{pair.a.pd, 4096};
  Buffer remote{pair.b.pd, 4096};

  explicit Bench(const Connection& connection = {}) : pair(context.get(), connection) {
    for (uint64_t i = 0; i < 512; ++i) std::memcpy(&local.memory[8 * i], &++last_, 8);
  }

  /// Posts WRITEs of the words `first` to `first + count - 1`, in one go.
  void write_words(uint64_t first, uint64_t count) {
    std::vector<ibv_sge> sges(count);
    std::vector<ibv_send_wr> requests(count);
    for (uint64_t i = 0; i < count; ++i) {
      sges[i] = local.sge(8 * (first + i), 8);
      requests[i] = write_request(&sges[i], remote.address() + 8 * (first + i), remote.region->rkey,
                                  first + i);
      if (i > 0) requests[i - 1].next = &requests[i];
    }
    ASSERT_EQ(pair.a.post(requests[0]), 0);
  }
  /// A completed request of one word.
  ibv_wc_status write_word(uint64_t word) {
    write_words(word, 1);
    return pair.a.wait().status;
  }
  ibv_wc_status send() {
    ibv_sge sge = local.sge(0, 8);
    EXPECT_EQ(pair.b.receive(remote.sge(0, 8)), 0);
    EXPECT_EQ(pair.a.post(send_request(&sge)), 0);
    return pair.a.wait().status;
  }
  [[nodiscard]] bool arrived(uint64_t word) const {
    // The device writes it behind the compiler's back.
    const volatile char* there = &remote.memory[8 * word];
    return *there != 0;
  }

 private:
  uint64_t last_ = 0x0101010101010101;
};

TEST(Faults, NothingHappensWithoutAny) {
  unsetenv("SOFTVERBS_FAULTS");
  Bench bench;
  for (uint64_t i = 0; i < 512; ++i) ASSERT_EQ(bench.write_word(i), IBV_WC_SUCCESS);
}

TEST(Faults, ARequestEndsWithTheStatusThatIsAskedFor) {
  const std::map<std::string, ibv_wc_status> statuses{
      {"loc-len", IBV_WC_LOC_LEN_ERR},       {"loc-qp-op", IBV_WC_LOC_QP_OP_ERR},
      {"loc-prot", IBV_WC_LOC_PROT_ERR},     {"rem-inv-req", IBV_WC_REM_INV_REQ_ERR},
      {"rem-access", IBV_WC_REM_ACCESS_ERR}, {"rem-op", IBV_WC_REM_OP_ERR},
      {"retry-exc", IBV_WC_RETRY_EXC_ERR},   {"rnr-retry-exc", IBV_WC_RNR_RETRY_EXC_ERR}};
  for (const auto& [name, status] : statuses) {
    with_faults("error:after=2:status=" + name, [&] {
      Bench bench;
      bench.write_words(0, 5);
      for (uint64_t i = 0; i < 5; ++i) {
        const ibv_wc completion = bench.pair.a.wait();
        EXPECT_EQ(completion.wr_id, i);
        EXPECT_EQ(completion.status, i < 2    ? IBV_WC_SUCCESS
                                     : i == 2 ? status
                                              : IBV_WC_WR_FLUSH_ERR);
        EXPECT_TRUE(i == 2 || bench.arrived(i) == (i < 2));
      }
      EXPECT_EQ(bench.pair.a.state(), IBV_QPS_ERR);
      // Who refuses a request fails; who only never answered, or was never asked, does not know.
      const bool refuses = status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
                           status == IBV_WC_REM_OP_ERR;
      EXPECT_EQ(bench.pair.b.state(), refuses ? IBV_QPS_ERR : IBV_QPS_RTS) << status;
      EXPECT_EQ(bench.write_word(7), IBV_WC_WR_FLUSH_ERR);
    });
  }
}

TEST(Faults, AMessageEndsWithAnErrorToo) {
  with_faults("error:after=3:status=rnr-retry-exc", [] {
    Bench bench;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bench.send(), IBV_WC_SUCCESS);
    EXPECT_EQ(bench.send(), IBV_WC_RNR_RETRY_EXC_ERR);
  });
}

TEST(Faults, AnyStatusIsOneThatFits) {
  std::map<int, int> seen;
  for (int seed = 0; seed < 40; ++seed) {
    setenv("SOFTVERBS_SEED", std::to_string(seed).c_str(), 1);
    ChildProcess child([](Wire& wire) {
      setenv("SOFTVERBS_FAULTS", "error", 1);
      Bench bench;
      wire.send(bench.write_word(0));
    });
    ++seen[child.wire().receive<ibv_wc_status>()];
    EXPECT_EQ(child.join(), 0);
  }
  unsetenv("SOFTVERBS_SEED");
  EXPECT_GE(seen.size(), 5U);
  EXPECT_EQ(seen.count(IBV_WC_RNR_RETRY_EXC_ERR), 0U) << "a WRITE takes no receive";
  EXPECT_EQ(seen.count(IBV_WC_SUCCESS), 0U);
}

// Some of the requests in flight were done, the first ones; which, their completions do not tell.
TEST(Faults, AQueuePairDiesWithRequestsInFlight) {
  std::map<int, int> done_count;
  for (int seed = 0; seed < 40; ++seed) {
    setenv("SOFTVERBS_SEED", std::to_string(seed).c_str(), 1);
    ChildProcess child([](Wire& wire) {
      setenv("SOFTVERBS_FAULTS", "qp-death:after=1", 1);
      Bench bench;
      ASSERT_EQ(bench.pair.b.receive(bench.remote.sge(0, 8)), 0);
      bench.write_words(0, 5);
      EXPECT_EQ(bench.pair.a.wait().status, IBV_WC_SUCCESS);
      EXPECT_EQ(bench.pair.a.wait().status, IBV_WC_RETRY_EXC_ERR);
      for (int i = 2; i < 5; ++i) EXPECT_EQ(bench.pair.a.wait().status, IBV_WC_WR_FLUSH_ERR);
      EXPECT_EQ(bench.pair.b.wait().status, IBV_WC_WR_FLUSH_ERR) << "of its receive";
      EXPECT_EQ(bench.pair.a.state(), IBV_QPS_ERR);
      EXPECT_EQ(bench.pair.b.state(), IBV_QPS_ERR);
      EXPECT_EQ(next_event(bench.context.get()), IBV_EVENT_QP_FATAL);
      int done = 0;
      while (done < 5 && bench.arrived(static_cast<uint64_t>(done))) ++done;
      for (int i = done; i < 5; ++i) EXPECT_FALSE(bench.arrived(static_cast<uint64_t>(i)));
      wire.send(done);
    });
    ++done_count[child.wire().receive<int>()];
    EXPECT_EQ(child.join(), 0);
  }
  unsetenv("SOFTVERBS_SEED");
  EXPECT_EQ(done_count.size(), 5U) << "1 to 5 of the 5 were done";
}

TEST(Faults, ADelayedRequestCompletesLaterAndInOrder) {
  with_faults("delay:ms=20", [] {
    Bench bench;
    bench.write_words(0, 8);
    ibv_wc completion{};
    EXPECT_FALSE(bench.pair.a.poll(completion));
    for (uint64_t i = 0; i < 8; ++i) {
      completion = bench.pair.a.wait();
      EXPECT_EQ(completion.wr_id, i);
      EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
      EXPECT_TRUE(bench.arrived(i));
    }
    EXPECT_EQ(bench.send(), IBV_WC_SUCCESS);
  });
}

// A request's data moves some time before its completion comes.
TEST(Faults, ADelayedWriteArrivesBeforeItsCompletion) {
  with_faults("delay:ms=40", [] {
    Bench bench;
    int before = 0;
    for (uint64_t word = 0; word < 10; ++word) {
      bench.write_words(word, 1);
      ibv_wc completion{};
      while (!bench.arrived(word)) ASSERT_FALSE(bench.pair.a.poll(completion));
      if (!bench.pair.a.poll(completion)) {
        ++before;
        bench.pair.a.wait();
      }
    }
    EXPECT_GT(before, 0);
  });
}

TEST(Faults, DelaysReorderTheCompletionsOfQueuePairs) {
  with_faults("delay:max=1:ms=50", [] {
    Bench slow;
    Bench fast;
    slow.write_words(0, 1);
    EXPECT_EQ(fast.write_word(0), IBV_WC_SUCCESS);
    ibv_wc completion{};
    EXPECT_FALSE(slow.pair.a.poll(completion));
    EXPECT_EQ(slow.pair.a.wait().status, IBV_WC_SUCCESS);
  });
}

TEST(Faults, CompletionsOfAnotherQueuePairComeFirst) {
  with_faults("reorder", [] {
    Owned<ibv_context> context = open_device();
    Pair pair(context.get());
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = pair.a.cq.get();
    init.qp_type = IBV_QPT_RC;
    init.cap = {16, 16, 1, 1, 0};
    Owned<ibv_qp> other(ibv_create_qp(pair.a.pd, &init));
    const auto flush = [](ibv_qp* qp, uint64_t first, int count) {
      for (int i = 0; i < count; ++i) {
        ibv_recv_wr wr{};
        wr.wr_id = first++;
        ibv_recv_wr* bad = nullptr;
        ASSERT_EQ(ibv_post_recv(qp, &wr, &bad), 0);
      }
      ibv_qp_attr attr{};
      attr.qp_state = IBV_QPS_ERR;
      ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    };
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    ASSERT_EQ(ibv_modify_qp(other.get(), &attr,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
              0);
    flush(pair.a.qp.get(), 0, 3);
    flush(other.get(), 10, 3);
    std::vector<uint64_t> order;
    for (int i = 0; i < 6; ++i) order.push_back(pair.a.wait().wr_id);
    EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
    const auto of_first = [](uint64_t id) { return id < 10; };
    std::stable_partition(order.begin(), order.end(), of_first);
    EXPECT_EQ(order, (std::vector<uint64_t>{0, 1, 2, 10, 11, 12})) << "in order for each";
  });
}

TEST(Faults, ASendQueueIsFullNowAndThen) {
  with_faults("post-full:after=2:max=1", [] {
    Bench bench;
    std::vector<ibv_sge> sges(4, bench.local.sge(0, 8));
    std::vector<ibv_send_wr> requests;
    for (uint64_t i = 0; i < 4; ++i) {
      requests.push_back(
          write_request(&sges[i], bench.remote.address(), bench.remote.region->rkey, i));
    }
    for (size_t i = 0; i < 3; ++i) requests[i].next = &requests[i + 1];
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(bench.pair.a.qp.get(), requests.data(), &bad), ENOMEM);
    EXPECT_EQ(bad, &requests[2]);
    for (uint64_t i = 0; i < 2; ++i) EXPECT_EQ(bench.pair.a.wait().wr_id, i);
    EXPECT_EQ(ibv_post_send(bench.pair.a.qp.get(), bad, &bad), 0);
    for (uint64_t i = 2; i < 4; ++i) EXPECT_EQ(bench.pair.a.wait().wr_id, i);
  });
}

TEST(Faults, APollMayReturnLessThanThereIs) {
  with_faults("poll-short:max=1", [] {
    Bench bench;
    bench.write_words(0, 8);
    std::array<ibv_wc, 8> completions{};
    const int first = ibv_poll_cq(bench.pair.a.cq.get(), 8, completions.data());
    EXPECT_GT(first, 0);
    EXPECT_LT(first, 8);
    EXPECT_EQ(ibv_poll_cq(bench.pair.a.cq.get(), 8, completions.data()), 8 - first);
  });
}

// Who armed the queue and then got less hears of the rest.
TEST(Faults, WhatAShortPollKeptBackRaisesAnEvent) {
  with_faults("poll-short:max=1", [] {
    Bench bench;
    bench.write_words(0, 8);
    ASSERT_EQ(ibv_req_notify_cq(bench.pair.a.cq.get(), 0), 0);
    std::array<ibv_wc, 8> completions{};
    EXPECT_LT(ibv_poll_cq(bench.pair.a.cq.get(), 8, completions.data()), 8);
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(bench.pair.a.channel.get(), &cq, &context), 0);
    ibv_ack_cq_events(cq, 1);
  });
}

TEST(Faults, AnEventMayComeForNothing) {
  with_faults("spurious-event:max=1", [] {
    Bench bench;
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    ASSERT_EQ(ibv_req_notify_cq(bench.pair.a.cq.get(), 0), 0);
    ASSERT_EQ(ibv_get_cq_event(bench.pair.a.channel.get(), &cq, &context), 0);
    ibv_wc completion{};
    EXPECT_FALSE(bench.pair.a.poll(completion));
    ASSERT_EQ(ibv_req_notify_cq(bench.pair.a.cq.get(), 0), 0);
    bench.write_words(0, 1);
    ASSERT_EQ(ibv_get_cq_event(bench.pair.a.channel.get(), &cq, &context), 0);
    EXPECT_EQ(bench.pair.a.wait().status, IBV_WC_SUCCESS);
    ibv_ack_cq_events(cq, 2);
  });
}

TEST(Faults, AnAsynchronousEventMayCome) {
  with_faults("async-event:max=1", [] {
    Bench bench;
    EXPECT_EQ(bench.write_word(0), IBV_WC_SUCCESS);
    const ibv_event_type event = next_event(bench.context.get());
    EXPECT_GE(event, IBV_EVENT_PORT_ACTIVE);
    EXPECT_NE(event, IBV_EVENT_SM_CHANGE);
  });
}

TEST(Faults, AStalledPeerAnswersLater) {
  constexpr auto kStall = std::chrono::milliseconds(200);
  ChildProcess child([](Wire& wire) {
    setenv("SOFTVERBS_FAULTS", "stall:after=4:max=1:ms=200", 1);
    const Owned<ibv_context> context = open_device();
    const Endpoint end(context.get());
    const Buffer buffer(end.pd, 64);
    wire.send(end.address(&buffer));
    end.connect(wire.receive<Address>());
    for (uint64_t i = 0; i < 16; ++i) ASSERT_EQ(end.receive(buffer.sge()), 0);
    wire.send('r');
    wire.receive<char>();
  });
  const Owned<ibv_context> context = open_device();
  const Endpoint end(context.get());
  const Buffer buffer(end.pd, 64);
  const auto peer = child.wire().receive<Address>();
  child.wire().send(end.address(&buffer));
  end.connect(peer);
  child.wire().receive<char>();
  auto longest = std::chrono::steady_clock::duration::zero();
  for (int i = 0; i < 16; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ibv_sge sge = buffer.sge();
    ASSERT_EQ(end.post(send_request(&sge)), 0);
    EXPECT_EQ(end.wait().status, IBV_WC_SUCCESS);
    longest = std::max(longest, std::chrono::steady_clock::now() - start);
  }
  EXPECT_GE(longest, kStall * 9 / 10);
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(Faults, TheLogHasALineForEach) {
  const ScratchFile log;
  with_faults("error:after=5:status=rem-op,delay:max=3:us=10,log=" + log.path(), [] {
    Bench bench;
    while (bench.write_word(0) == IBV_WC_SUCCESS) {
    }
  });
  EXPECT_EQ(log.count("delay"), 3);
  EXPECT_EQ(log.count("error"), 1);
  EXPECT_EQ(log.count("rem-op"), 1);
  EXPECT_EQ(log.count("softverbs_fault_test"), 4) << log.text();
}

TEST(Faults, TheyStrikeAsOftenAsTheRateSays) {
  const ScratchFile log;
  with_faults("delay:rate=1/20:us=0,log=" + log.path(), [] {
    Bench bench;
    for (uint64_t i = 0; i < 4000; ++i) ASSERT_EQ(bench.write_word(i % 512), IBV_WC_SUCCESS);
  });
  EXPECT_GT(log.count("delay"), 130);
  EXPECT_LT(log.count("delay"), 280);
}

TEST(Faults, ASeedRepeatsThem) {
  const auto requests_before_the_fault = [](const char* seed) {
    ChildProcess child([seed](Wire& wire) {
      setenv("SOFTVERBS_FAULTS", "error:rate=1/100", 1);
      setenv("SOFTVERBS_SEED", seed, 1);
      Bench bench;
      int count = 0;
      while (bench.write_word(0) == IBV_WC_SUCCESS) ++count;
      wire.send(count);
    });
    const int count = child.wire().receive<int>();
    EXPECT_EQ(child.join(), 0);
    return count;
  };
  std::map<int, int> counts;
  for (const char* seed : {"1", "2", "3", "4"}) {
    const int count = requests_before_the_fault(seed);
    EXPECT_EQ(requests_before_the_fault(seed), count) << "seed " << seed;
    ++counts[count];
  }
  EXPECT_GT(counts.size(), 1U);
}

TEST(Faults, AFileIsReadAgainWhenItChanges) {
  const ScratchFile plan;
  plan.replace("# nothing yet\n");
  with_faults("@" + plan.path(), [&] {
    Bench bench;
    for (uint64_t i = 0; i < 512; ++i) ASSERT_EQ(bench.write_word(i), IBV_WC_SUCCESS);
    plan.replace("error:status=rem-inv-req\n");
    ibv_wc_status status{};
    while ((status = bench.write_word(0)) == IBV_WC_SUCCESS) {
    }
    EXPECT_EQ(status, IBV_WC_REM_INV_REQ_ERR);
  });
}

}  // namespace
}  // namespace softverbs::test
