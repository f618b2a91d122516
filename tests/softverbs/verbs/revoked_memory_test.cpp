// Mapped memory whose owner takes it away, or dies.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "tests/softverbs/verbs/lent_memory.h"

namespace softverbs::test {
namespace {

// As a device has the pages that were there at registration.
TEST(RevokedMemory, StaysWhatItWasWhenItsOwnerUnmapsIt) {
  ChildProcess child([](Wire& wire) {
    const SharedMemory memory;
    std::fill_n(memory.data(), kSize, 'm');
    End end(wire, memory.data());
    ASSERT_EQ(mmap(memory.data(), kSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              memory.data());
    wire.send('u');
    wire.receive<char>();
  });
  const End end(child.wire());
  child.wire().receive<char>();
  EXPECT_EQ(end.read(0, kSize), IBV_WC_SUCCESS);
  EXPECT_EQ(end.buffer.memory, std::vector<char>(kSize, 'm'));
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(RevokedMemory, IsLetGoWhenItsOwnerDeregistersIt) {
  ChildProcess child = make_responder({}, kAllAccess, [](Wire& wire, End& end, SharedMemory&) {
    end.region.reset();
    wire.send('g');
    wire.receive<char>();
  });
  const End end(child.wire());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_SUCCESS);
  EXPECT_NE(mapped_with(), "");
  child.wire().send('d');
  child.wire().receive<char>();
  EXPECT_TRUE(becomes_unmapped());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_REM_ACCESS_ERR);
  child.wire().send('e');
  EXPECT_EQ(child.join(), 0);
}

TEST(RevokedMemory, IsLetGoWhenItsOwnerDies) {
  ChildProcess child = make_responder();
  const End end(child.wire());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_SUCCESS);
  EXPECT_NE(mapped_with(), "");
  child.kill();
  EXPECT_TRUE(becomes_unmapped());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_RETRY_EXC_ERR);
}

// Who knows of the death finds nothing written by then that was not written before.
TEST(RevokedMemory, IsNotReachedOnceItsOwnerIsDead) {
  const SharedMemory memory;
  std::deque<ChildProcess> children;
  for (int round = 0; round < 20; ++round) {
    children.emplace_back([&](Wire& wire) {
      const End end(wire, memory.data());
      wire.receive<char>();
    });
  }
  for (ChildProcess& child : children) {
    const End end(child.wire());
    ASSERT_EQ(end.write(0, kPage), IBV_WC_SUCCESS);
    child.kill();
    EXPECT_EQ(end.write(0, kPage), IBV_WC_RETRY_EXC_ERR);
  }
}

// Other regions take the places of regions that are gone.
TEST(RevokedMemory, MayBeReplacedByOther) {
  constexpr int kRounds = 600;
  ChildProcess child([](Wire& wire) {
    const SharedMemory memory;
    const End end(wire);
    for (int i = 0; i < kRounds; ++i) {
      const size_t offset = static_cast<size_t>(i % 4) * 64 * 1024;
      const Owned<ibv_mr> region(
          ibv_reg_mr(end.endpoint.pd, memory.data() + offset, kSize - offset, kAllAccess));
      memory.data()[offset] = static_cast<char>(i);
      Address address;
      address.memory = reinterpret_cast<uint64_t>(memory.data()) + offset;
      address.rkey = region->rkey;
      wire.send(address);
      wire.receive<char>();
    }
  });
  End end(child.wire());
  for (int i = 0; i < kRounds; ++i) {
    end.peer = child.wire().receive<Address>();
    ASSERT_EQ(end.read(0, 1), IBV_WC_SUCCESS);
    ASSERT_EQ(end.buffer.memory[0], static_cast<char>(i));
    child.wire().send('n');
  }
  EXPECT_EQ(child.join(), 0);
  EXPECT_TRUE(becomes_unmapped());
}

// A requester writes without pause; the responder revokes its access and scribbles over the
// memory. Nothing of the requester's may appear there afterwards.
void expect_fence(const std::function<void(End&)>& revoke) {
  std::deque<ChildProcess> children;
  for (int round = 0; round < 5; ++round) {
    children.emplace_back([](Wire& wire) {
      End end(wire);
      std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'w');
      ibv_wc_status status = IBV_WC_SUCCESS;
      for (int i = 0; status == IBV_WC_SUCCESS; ++i) {
        status = end.write(0, kSize);
        if (i != 1) continue;
        EXPECT_NE(mapped_with(), "");
        wire.send('s');
      }
      wire.send(status);
    });
  }
  for (ChildProcess& child : children) {
    const SharedMemory memory;
    End end(child.wire(), memory.data());
    child.wire().receive<char>();
    revoke(end);
    std::fill_n(memory.data(), kSize, '0');
    EXPECT_NE(child.wire().receive<ibv_wc_status>(), IBV_WC_SUCCESS);
    EXPECT_EQ(std::count(memory.data(), memory.data() + kSize, '0'), kSize);
    EXPECT_EQ(child.join(), 0);
  }
}

TEST(RevokedMemory, IsFencedByDeregistration) {
  expect_fence([](End& end) { end.region.reset(); });
}

TEST(RevokedMemory, IsFencedByDestruction) {
  expect_fence([](End& end) { end.endpoint.qp.reset(); });
}

}  // namespace
}  // namespace softverbs::test
