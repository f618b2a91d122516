// What holds for a process that forks with a device open.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

/// Runs `body` in a forked child and returns its exit status. The child leaves by _exit.
template <typename Body>
int in_child(Body body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ForkTest : public testing::Test {
 protected:
  void expect_working() {
    local.memory[0] = static_cast<char>(local.memory[0] + 1);
    ibv_sge sge = local.sge();
    ASSERT_EQ(pair.a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
    EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
    EXPECT_EQ(remote.memory[0], local.memory[0]);
    ASSERT_EQ(pair.b.receive(remote.sge()), 0);
    ASSERT_EQ(pair.a.post(send_request(&sge)), 0);
    EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
    EXPECT_EQ(pair.b.wait().status, IBV_WC_SUCCESS);
  }

  Owned<ibv_context> context = open_device();
  Pair pair{context.get()};
  Buffer local{pair.a.pd, 64};
  Buffer remote{pair.b.pd, 64};
};

TEST_F(ForkTest, AChildMayExit) {
  expect_working();
  EXPECT_EQ(in_child([] { return true; }), 0);
  expect_working();
}

TEST_F(ForkTest, TheParentsObjectsAreDeadInTheChild) {
  expect_working();
  EXPECT_EQ(in_child([&] {
              ibv_sge sge = local.sge();
              const int posted =
                  pair.a.post(write_request(&sge, remote.address(), remote.region->rkey));
              const int received = pair.b.receive(remote.sge());
              return posted == EIO && received == EIO && pair.a.to_state(IBV_QPS_ERR) == EIO;
            }),
            0);
  expect_working();
}

TEST_F(ForkTest, DestroyingThemInTheChildLeavesTheParentAlone) {
  expect_working();
  EXPECT_EQ(in_child([&] {
              local.region.reset();
              remote.region.reset();
              pair.a.qp.reset();
              pair.b.qp.reset();
              return true;
            }),
            0);
  expect_working();
}

}  // namespace
}  // namespace softverbs::test
