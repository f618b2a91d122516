// Queue pairs of two processes.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <numeric>

#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

/// One end of a connection to the other process, with a buffer for the other to access.
struct End {
  explicit End(Wire& wire, size_t size = 1 << 20, const Connection& connection = {})
      : buffer(endpoint.pd, size) {
    wire.send(endpoint.address(&buffer));
    peer = wire.receive<Address>();
    endpoint.connect(peer, connection);
    wire.send('r');
    wire.receive<char>();
  }
  Owned<ibv_context> context = open_device();
  Endpoint endpoint{context.get()};
  Buffer buffer;
  Address peer;
};

ibv_wc_status run(const End& end, const ibv_send_wr& request) {
  EXPECT_EQ(end.endpoint.post(request), 0);
  return end.endpoint.wait().status;
}

TEST(TwoProcesses, ThePeerDoesNotRunForReadAndWrite) {
  ChildProcess child([](Wire& wire) {
    End end(wire);
    std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'c');
    wire.send('f');
    wire.receive<char>();
    EXPECT_EQ(end.buffer.memory[0], 'p');
    EXPECT_EQ(end.buffer.memory[1], 'c');
  });
  End end(child.wire());
  child.wire().receive<char>();
  child.signal(SIGSTOP);
  ibv_sge sge = end.buffer.sge();
  EXPECT_EQ(run(end, read_request(&sge, end.peer.memory, end.peer.rkey)), IBV_WC_SUCCESS);
  EXPECT_EQ(end.buffer.memory, std::vector<char>(end.buffer.memory.size(), 'c'));
  end.buffer.memory[0] = 'p';
  sge.length = 1;
  EXPECT_EQ(run(end, write_request(&sge, end.peer.memory, end.peer.rkey)), IBV_WC_SUCCESS);
  child.signal(SIGCONT);
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(TwoProcesses, MessagesGoBothWays) {
  constexpr size_t kLength = 200'000;
  const auto body = [](Wire& wire, bool starts) {
    const End end(wire, 2 * kLength);
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(end.endpoint.receive(end.buffer.sge(0, kLength)), 0);
      if (i == 0) {  // The first receive is there before the peer sends.
        wire.send('p');
        wire.receive<char>();
      }
      ibv_sge sge = end.buffer.sge(kLength, i % 2 == 0 ? kLength : 100);
      if (starts) {
        EXPECT_EQ(run(end, send_request(&sge)), IBV_WC_SUCCESS);
      }
      EXPECT_EQ(end.endpoint.wait().status, IBV_WC_SUCCESS);
      if (!starts) {
        EXPECT_EQ(run(end, send_request(&sge)), IBV_WC_SUCCESS);
      }
    }
  };
  ChildProcess child([&](Wire& wire) { body(wire, false); });
  body(child.wire(), true);
  EXPECT_EQ(child.join(), 0);
}

TEST(TwoProcesses, AWriteIsThereWhenALaterSendHasArrived) {
  ChildProcess child([](Wire& wire) {
    const End end(wire);
    const Buffer notes(end.endpoint.pd, 64);
    for (uint64_t i = 1; i <= 1000; ++i) {
      EXPECT_EQ(end.endpoint.receive(notes.sge()), 0);
      if (i == 1) wire.send('p');
      EXPECT_EQ(end.endpoint.wait().status, IBV_WC_SUCCESS);
      uint64_t value = 0;
      memcpy(&value, &end.buffer.memory[8 * i], sizeof value);
      EXPECT_EQ(value, i);
    }
  });
  const End end(child.wire());
  child.wire().receive<char>();
  for (uint64_t i = 1; i <= 1000; ++i) {
    ibv_sge sge{reinterpret_cast<uint64_t>(&i), sizeof i, 0};
    ibv_send_wr write = write_request(&sge, end.peer.memory + 8 * i, end.peer.rkey);
    ibv_send_wr note = send_request(&sge);
    write.send_flags = IBV_SEND_INLINE;
    note.send_flags |= IBV_SEND_INLINE;
    write.next = &note;
    EXPECT_EQ(run(end, write), IBV_WC_SUCCESS);
  }
  EXPECT_EQ(child.join(), 0);
}

TEST(TwoProcesses, TheAnswerOfAPeerThatExitsAtOnceCounts) {
  ChildProcess responder([](Wire& wire) {
    const End end(wire, 4096);
    EXPECT_EQ(end.endpoint.receive(end.buffer.sge(0, 64)), 0);
    wire.send('p');
    EXPECT_EQ(end.endpoint.wait().status, IBV_WC_SUCCESS);
  });
  ChildProcess requester([](Wire& wire) {
    const End end(wire, 4096);
    wire.receive<char>();
    ibv_sge sge = end.buffer.sge(0, 64);
    ASSERT_EQ(end.endpoint.post(send_request(&sge, 1)), 0);
    wire.send('s');
    EXPECT_EQ(end.endpoint.wait().status, IBV_WC_SUCCESS);
  });
  // They greet each other through this process.
  const auto address = responder.wire().receive<Address>();
  responder.wire().send(requester.wire().receive<Address>());
  requester.wire().send(address);
  const char ready = responder.wire().receive<char>();
  requester.wire().send(ready);
  responder.wire().send(requester.wire().receive<char>());
  // The responder receives, answers and exits while the requester is stopped, which then finds
  // the answer and the death at once.
  responder.wire().receive<char>();
  responder.signal(SIGSTOP);
  requester.wire().send('g');
  requester.wire().receive<char>();
  requester.signal(SIGSTOP);
  responder.signal(SIGCONT);
  EXPECT_EQ(responder.join(), 0);
  requester.signal(SIGCONT);
  EXPECT_EQ(requester.join(), 0);
}

TEST(TwoProcesses, ADeadPeerIsGivenUp) {
  ChildProcess child([](Wire& wire) {
    const End end(wire);
    wire.receive<char>();
  });
  const End end(child.wire());
  ibv_sge sge = end.buffer.sge(0, 64);
  ASSERT_EQ(end.endpoint.post(send_request(&sge, 1)), 0);  // It waits for a receive, for ever.
  ASSERT_EQ(end.endpoint.post(write_request(&sge, end.peer.memory, end.peer.rkey, 2)), 0);
  child.kill();
  const ibv_wc first = end.endpoint.wait();
  EXPECT_EQ(first.wr_id, 1U);
  EXPECT_EQ(first.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(end.endpoint.wait().status, IBV_WC_WR_FLUSH_ERR);
}

TEST(TwoProcesses, TheDeathOfAnIdlePeerShowsAtTheNextRequest) {
  ChildProcess child([](Wire& wire) {
    const End end(wire);
    wire.receive<char>();
  });
  const End end(child.wire());
  ibv_sge sge = end.buffer.sge(0, 64);
  EXPECT_EQ(run(end, write_request(&sge, end.peer.memory, end.peer.rkey)), IBV_WC_SUCCESS);
  child.kill();
  EXPECT_EQ(end.endpoint.state(), IBV_QPS_RTS);
  EXPECT_EQ(run(end, write_request(&sge, end.peer.memory, end.peer.rkey)), IBV_WC_RETRY_EXC_ERR);
}

// A requester writes without pause; the responder revokes its access and scribbles over the
// memory. Nothing of the requester's may appear there afterwards.
void expect_fence(const std::function<void(End&)>& revoke, ibv_wc_status requester_sees) {
  constexpr size_t kSize = 4 << 20;
  // All are forked before this process has threads.
  std::deque<ChildProcess> children;
  for (int round = 0; round < 5; ++round) {
    children.emplace_back([](Wire& wire) {
      Connection connection;
      connection.timeout = 1;
      End end(wire, kSize, connection);
      std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'w');
      ibv_sge sge = end.buffer.sge();
      ibv_wc_status status = IBV_WC_SUCCESS;
      for (int i = 0; status == IBV_WC_SUCCESS; ++i) {
        status = run(end, write_request(&sge, end.peer.memory, end.peer.rkey));
        if (i == 1) wire.send('s');
      }
      wire.send(status);
    });
  }
  for (ChildProcess& child : children) {
    End end(child.wire(), kSize);
    child.wire().receive<char>();
    revoke(end);
    std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), '0');
    EXPECT_EQ(child.wire().receive<ibv_wc_status>(), requester_sees);
    EXPECT_EQ(std::count(end.buffer.memory.begin(), end.buffer.memory.end(), '0'), kSize);
    EXPECT_EQ(child.join(), 0);
  }
}

TEST(Fence, NothingIsCopiedAfterDeregistration) {
  expect_fence([](End& end) { end.buffer.region.reset(); }, IBV_WC_REM_ACCESS_ERR);
}

TEST(Fence, NothingIsCopiedAfterDestruction) {
  expect_fence([](End& end) { end.endpoint.qp.reset(); }, IBV_WC_RETRY_EXC_ERR);
}

TEST(Fence, NothingIsCopiedInTheErrorState) {
  expect_fence([](End& end) { EXPECT_EQ(end.endpoint.to_state(IBV_QPS_ERR), 0); },
               IBV_WC_RETRY_EXC_ERR);
}

TEST(Fence, NothingIsCopiedAfterReset) {
  expect_fence([](End& end) { EXPECT_EQ(end.endpoint.to_state(IBV_QPS_RESET), 0); },
               IBV_WC_RETRY_EXC_ERR);
}

TEST(Fence, ARequesterThatWasKilledInACopyHoldsNobodyUp) {
  constexpr size_t kSize = 4 << 20;
  std::deque<ChildProcess> children;
  for (int round = 0; round < 20; ++round) {
    children.emplace_back([](Wire& wire) {
      const End end(wire, kSize);
      ibv_sge sge = end.buffer.sge();
      for (int i = 0;; ++i) {
        run(end, write_request(&sge, end.peer.memory, end.peer.rkey));
        if (i == 1) wire.send('s');
      }
    });
  }
  for (ChildProcess& child : children) {
    End end(child.wire(), kSize);
    child.wire().receive<char>();
    child.kill();
    end.buffer.region.reset();
    end.endpoint.qp.reset();
  }
}

/// Without CAP_SYS_PTRACE, a process may not copy from or to one that is not dumpable.
void drop_ptrace() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
  data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective &= ~CAP_TO_MASK(CAP_SYS_PTRACE);
  ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
}

TEST(TwoProcesses, ThePeerCopiesWhereTheKernelForbidsIt) {
  constexpr size_t kSize = 300'000;
  ChildProcess child([&](Wire& wire) {
    ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
    const End end(wire, kSize);
    EXPECT_EQ(end.endpoint.receive(std::vector<ibv_sge>{}), 0);
    wire.send('p');
    const ibv_wc received = end.endpoint.wait();
    EXPECT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    EXPECT_EQ(received.byte_len, kSize);
    std::vector<char> expected(kSize);
    std::iota(expected.begin(), expected.end(), char{3});
    EXPECT_EQ(end.buffer.memory, expected);
    wire.receive<char>();
  });
  drop_ptrace();
  End end(child.wire(), kSize);
  ASSERT_EQ(child.wire().receive<char>(), 'p');
  std::vector<char> data(kSize);
  std::iota(data.begin(), data.end(), char{3});
  std::copy(data.begin(), data.end(), end.buffer.memory.begin());
  ibv_sge sge = end.buffer.sge();
  ibv_send_wr write = write_request(&sge, end.peer.memory, end.peer.rkey);
  EXPECT_EQ(run(end, write), IBV_WC_SUCCESS);
  write.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  EXPECT_EQ(run(end, write), IBV_WC_SUCCESS);
  std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), char{0});
  EXPECT_EQ(run(end, read_request(&sge, end.peer.memory, end.peer.rkey)), IBV_WC_SUCCESS);
  EXPECT_EQ(end.buffer.memory, data);
  EXPECT_EQ(run(end, read_request(&sge, end.peer.memory + 1, end.peer.rkey)),
            IBV_WC_REM_ACCESS_ERR);
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

}  // namespace
}  // namespace softverbs::test
