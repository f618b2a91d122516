// WRITEs that arrive after their requester has given up: what fencing is there for.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "tests/softverbs/faults/with_faults.h"
#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

using std::chrono::milliseconds;

/// Longer than the WRITEs of these tests are on their way.
constexpr milliseconds kLongEnough{250};

/// The requester in this process or another, and the responder's memory.
class Responder {
 public:
  explicit Responder(ibv_context* context)
      : endpoint(std::in_place, context), buffer(endpoint->pd, 4096) {}

  [[nodiscard]] bool has_word(uint64_t word) const {
    const volatile char* there = &buffer.memory[8 * word];
    return *there != 0;
  }
  [[nodiscard]] bool gets_word(uint64_t word) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!has_word(word) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return has_word(word);
  }

  std::optional<Endpoint> endpoint;
  Buffer buffer;
};

/// Posts a WRITE of word 0, which the fault late-write strikes.
void write_late(const Endpoint& from, Buffer& local, const Address& to) {
  local.memory[0] = 1;
  ibv_sge sge = local.sge(0, 8);
  ASSERT_EQ(from.post(write_request(&sge, to.memory, to.rkey)), 0);
  ASSERT_EQ(from.wait().status, IBV_WC_RETRY_EXC_ERR);
  ASSERT_EQ(from.state(), IBV_QPS_ERR);
  local.memory[0] = 9;  // The network has its own copy.
}

struct Scene {
  Owned<ibv_context> context = open_device();
  Responder responder{context.get()};
  std::optional<Endpoint> requester{std::in_place, context.get()};
  Buffer local{requester->pd, 64};

  Scene() {
    requester->connect(responder.endpoint->address());
    responder.endpoint->connect(requester->address());
  }
};

TEST(LateWrites, ArriveWhenTheRequesterHasFailed) {
  with_faults("late-write:ms=100", [] {
    Scene scene;
    write_late(*scene.requester, scene.local,
               scene.responder.endpoint->address(&scene.responder.buffer));
    EXPECT_EQ(scene.responder.endpoint->state(), IBV_QPS_RTS) << "it does not know";
    EXPECT_TRUE(scene.responder.gets_word(0));
    EXPECT_EQ(scene.responder.buffer.memory[0], 1);
  });
}

TEST(LateWrites, ArriveWhenTheRequesterIsGone) {
  with_faults("late-write:ms=100", [] {
    Scene scene;
    write_late(*scene.requester, scene.local,
               scene.responder.endpoint->address(&scene.responder.buffer));
    scene.local.region.reset();
    scene.requester.reset();
    EXPECT_TRUE(scene.responder.gets_word(0));
  });
}

template <typename Fence>
void expect_fenced(Fence fence) {
  // With some seeds the WRITE arrives before the fence; then there is nothing to see.
  int fenced = 0;
  for (int seed = 0; seed < 4; ++seed) {
    setenv("SOFTVERBS_SEED", std::to_string(seed).c_str(), 1);
    ChildProcess child([&](Wire& wire) {
      setenv("SOFTVERBS_FAULTS", "late-write:ms=150", 1);
      Scene scene;
      write_late(*scene.requester, scene.local,
                 scene.responder.endpoint->address(&scene.responder.buffer));
      fence(scene);
      const bool before = scene.responder.has_word(0);
      std::this_thread::sleep_for(kLongEnough);
      EXPECT_EQ(scene.responder.has_word(0), before) << "seed " << seed;
      wire.send(before ? 0 : 1);
    });
    fenced += child.wire().receive<int>();
    EXPECT_EQ(child.join(), 0);
  }
  unsetenv("SOFTVERBS_SEED");
  EXPECT_GT(fenced, 0);
}

TEST(LateWrites, NeverArriveOnceTheRespondersQueuePairIsDestroyed) {
  expect_fenced([](Scene& scene) { scene.responder.endpoint->qp.reset(); });
}

TEST(LateWrites, NeverArriveOnceTheRespondersQueuePairHasFailed) {
  expect_fenced([](Scene& scene) { scene.responder.endpoint->to_state(IBV_QPS_ERR); });
}

TEST(LateWrites, NeverArriveOnceTheRegionIsGone) {
  expect_fenced([](Scene& scene) { scene.responder.buffer.region.reset(); });
}

TEST(LateWrites, DieWithTheirProcess) {
  ChildProcess child([](Wire& wire) {
    setenv("SOFTVERBS_FAULTS", "late-write:ms=150", 1);
    setenv("SOFTVERBS_SEED", "1", 1);
    const Owned<ibv_context> device = open_device();
    const Endpoint end(device.get());
    Buffer local(end.pd, 64);
    const auto to = wire.receive<Address>();
    wire.send(end.address());
    end.connect(to);
    wire.receive<char>();
    write_late(end, local, to);
    wire.send('w');
    wire.receive<char>();
  });
  const Owned<ibv_context> device = open_device();
  const Responder responder(device.get());
  child.wire().send(responder.endpoint->address(&responder.buffer));
  responder.endpoint->connect(child.wire().receive<Address>());
  child.wire().send('c');
  child.wire().receive<char>();
  child.kill();
  const bool before = responder.has_word(0);
  std::this_thread::sleep_for(kLongEnough);
  EXPECT_EQ(responder.has_word(0), before);
}

TEST(LateWrites, ComeFromAnotherProcess) {
  ChildProcess child([](Wire& wire) {
    setenv("SOFTVERBS_FAULTS", "late-write:ms=50", 1);
    const Owned<ibv_context> device = open_device();
    std::optional<Endpoint> end(std::in_place, device.get());
    Buffer local(end->pd, 64);
    const auto to = wire.receive<Address>();
    wire.send(end->address());
    end->connect(to);
    wire.receive<char>();
    write_late(*end, local, to);
    local.region.reset();
    end.reset();
    wire.send('w');
    wire.receive<char>();
  });
  const Owned<ibv_context> device = open_device();
  const Responder responder(device.get());
  child.wire().send(responder.endpoint->address(&responder.buffer));
  responder.endpoint->connect(child.wire().receive<Address>());
  child.wire().send('c');
  child.wire().receive<char>();
  EXPECT_TRUE(responder.gets_word(0));
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

// What is delayed when the program gives up is on its way, if late WRITEs are asked for at all.
TEST(LateWrites, ADelayedWriteOutlivesItsQueuePair) {
  int late = 0;
  for (int seed = 0; seed < 8; ++seed) {
    setenv("SOFTVERBS_SEED", std::to_string(seed).c_str(), 1);
    ChildProcess child([](Wire& wire) {
      setenv("SOFTVERBS_FAULTS", "delay:ms=150,late-write:rate=1/1000000", 1);
      Scene scene;
      scene.local.memory[0] = 1;
      ibv_sge sge = scene.local.sge(0, 8);
      const Address to = scene.responder.endpoint->address(&scene.responder.buffer);
      ASSERT_EQ(scene.requester->post(write_request(&sge, to.memory, to.rkey)), 0);
      scene.requester->qp.reset();
      const bool early = scene.responder.has_word(0);
      EXPECT_TRUE(scene.responder.gets_word(0));
      wire.send(early ? 0 : 1);
    });
    late += child.wire().receive<int>();
    EXPECT_EQ(child.join(), 0);
  }
  unsetenv("SOFTVERBS_SEED");
  EXPECT_GT(late, 0);
}

TEST(LateWrites, ADelayedWriteEndsWithItsQueuePairOtherwise) {
  with_faults("delay:ms=100", [] {
    Scene scene;
    scene.local.memory[0] = 1;
    ibv_sge sge = scene.local.sge(0, 8);
    const Address to = scene.responder.endpoint->address(&scene.responder.buffer);
    ASSERT_EQ(scene.requester->post(write_request(&sge, to.memory, to.rkey)), 0);
    scene.requester->qp.reset();
    const bool early = scene.responder.has_word(0);
    std::this_thread::sleep_for(kLongEnough);
    EXPECT_EQ(scene.responder.has_word(0), early);
  });
}

}  // namespace
}  // namespace softverbs::test
