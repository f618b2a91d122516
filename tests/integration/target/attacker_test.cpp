// What a client with a valid session, which keeps to no rule, can reach: nothing but what it was
// given. It knows every address and rkey of the target, since they can be guessed. Only the
// kernel's devices prove anything: on the software device an attacker would do its own checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>

#include "attacker.h"
#include "event_waiter.h"
#include "file_client.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::MessageType;
using ::testing::HasSubstr;

constexpr std::size_t kChunk = 64 << 10;
constexpr std::byte kSecret{0x5e};

/// Somebody else who uses an export, and lets the test see what is in it.
class Victim {
 public:
  /// @param flags of its ATTACH.
  Victim(EventWaiter& waiter, const SocketAddress& target, const std::string& name, Access access,
         std::uint32_t flags)
      : initiator_(waiter, target) {
    initiator_.hello();
    attachment_ = initiator_.attach(name, access, 1, flags);
    queue_.emplace(waiter, target, queue_request(attachment_).encode());
    chunks_ = queue_->read_table(attachment_.table);
    if (access == Access::read_write) write_secret();
  }

  const protocol::AttachReply& attachment() const { return attachment_; }
  const std::vector<protocol::ChunkEntry>& chunks() const { return chunks_; }

  Aim chunk(std::size_t number) const {
    return {chunks_.at(number).address, chunks_.at(number).rkey};
  }
  Aim table() const { return {attachment_.table.address, attachment_.table.rkey, 16}; }

  /// Whether its memory is what it wrote, or zero when it never wrote.
  bool is_untouched(std::byte expected = kSecret) {
    for (const protocol::ChunkEntry& chunk : chunks_) {
      if (queue_->read(chunk.address, chunk.rkey, kChunk) != IBV_WC_SUCCESS) return false;
      const auto bytes = queue_->buffer().first(kChunk);
      if (std::ranges::any_of(bytes, [&](std::byte b) { return b != expected; })) return false;
    }
    return true;
  }

 private:
  void write_secret() {
    std::ranges::fill(queue_->buffer(), kSecret);
    for (const protocol::ChunkEntry& chunk : chunks_) {
      ASSERT_EQ(queue_->write(chunk.address, chunk.rkey, kChunk), IBV_WC_SUCCESS);
    }
  }

  RawInitiator initiator_;
  protocol::AttachReply attachment_;
  std::optional<RawQueue> queue_;
  std::vector<protocol::ChunkEntry> chunks_;
};

class AttackerTest : public ::testing::Test {
 protected:
  /// @param keepalive_seconds 0: nobody has to say anything.
  explicit AttackerTest(const char* keepalive_seconds = "0")
      : target_({"--export", "mine=memory:256K,chunk=64K", "--export",
                 "secret=memory:128K,chunk=64K", "--export", "rom=memory:128K,chunk=64K,readonly",
                 "--export", "disk=file:" + scratch_.make("disk.img", 1 << 20), "--slots", "4",
                 "--keepalive", keepalive_seconds}) {}

  void TearDown() override {
    target_.show_log_if_failed();
    std::cout << "attacks: " << score_.attempts << " attempts, "
              << score_.attempts - score_.successes << " refused\n";
    EXPECT_GT(score_.attempts, 0U);
    EXPECT_EQ(score_.successes, 0U);
  }

  Attacker attack(const std::string& name, Access access) {
    return {waiter_, target_.address(), name, access, score_};
  }
  Victim victim(const std::string& name, Access access = Access::read_write,
                std::uint32_t flags = 0) {
    return {waiter_, target_.address(), name, access, flags};
  }

  /// Returns when the target has ended the one session that there was, and has no connection.
  void wait_until_alone() {
    target_.wait_for_log(" ended: ");
    while (target_.counts().find(" queue_pairs=0 ") == std::string::npos) {
    }
  }

  target::ScratchDirectory scratch_;
  TargetProcess target_;
  EventWaiter waiter_;
  Score score_;
};

/// With a target that throws out who is silent.
class EvictedAttackerTest : public AttackerTest {
 protected:
  EvictedAttackerTest() : AttackerTest("1") {}
};

Aim first_chunk_of(const Attacker& attacker) {
  return {attacker.chunks().front().address, attacker.chunks().front().rkey};
}

/// Every key near a known one: devices give them out one after the other, some in the upper 24
/// bits, some in all 32.
std::vector<std::uint32_t> keys_near(std::uint32_t rkey) {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t distance = 1; distance <= 16; ++distance) {
    for (const unsigned shift : {0U, 8U}) {
      keys.push_back(rkey + (distance << shift));
      keys.push_back(rkey - (distance << shift));
    }
  }
  return keys;
}

TEST_F(AttackerTest, CannotUseTheKeysOfAnotherExport) {
  auto secret = victim("secret");
  const auto reader = victim("secret", Access::read_only);
  const auto rom = victim("rom", Access::read_only);
  for (const Access access : {Access::read_write, Access::read_only}) {
    auto attacker = attack("mine", access);
    for (const Victim* other : {&std::as_const(secret), &reader, &rom}) {
      for (std::size_t i = 0; i < other->chunks().size(); ++i) attacker.try_both(other->chunk(i));
      attacker.try_both(other->table());
    }
  }
  EXPECT_TRUE(secret.is_untouched());
}

TEST_F(AttackerTest, CannotGuessKeysNearItsOwn) {
  auto secret = victim("secret");
  auto attacker = attack("mine", Access::read_write);
  const std::uint64_t address = secret.chunk(0).address;
  for (const std::uint32_t key : keys_near(attacker.chunks()[0].rkey)) {
    attacker.try_both({address, key});
  }
  EXPECT_TRUE(secret.is_untouched());
}

TEST_F(AttackerTest, CannotLeaveItsOwnMemory) {
  auto secret = victim("secret");
  auto attacker = attack("mine", Access::read_write);
  const protocol::ChunkEntry first = attacker.chunks().front();
  const protocol::ChunkEntry last = attacker.chunks().back();
  attacker.try_both({secret.chunk(0).address, first.rkey});
  attacker.try_both({first.address - 1, first.rkey});
  attacker.try_both({first.address - 64, first.rkey});
  attacker.try_both({first.address + kChunk - 63, first.rkey});
  attacker.try_both({last.address + kChunk, last.rkey});
  attacker.try_both({last.address + kChunk - 1, last.rkey});
  attacker.try_both({UINT64_MAX - 31, first.rkey});
  attacker.try_both({0, first.rkey});
  attacker.try_both({last.address, first.rkey});
  attacker.try_write({attacker.attachment().table.address, attacker.attachment().table.rkey, 16});
  EXPECT_TRUE(secret.is_untouched());
}

TEST_F(AttackerTest, CannotWriteWhatItMayOnlyRead) {
  auto writer = victim("secret");
  auto attacker = attack("secret", Access::read_only);
  for (std::size_t i = 0; i < 2; ++i) {
    attacker.try_both(writer.chunk(i));  // the writable registration
    attacker.try_write({attacker.chunks()[i].address, attacker.chunks()[i].rkey});
  }
  attacker.try_both(writer.table());
  auto rom = attack("rom", Access::read_only);
  rom.try_write({rom.chunks()[0].address, rom.chunks()[0].rkey});
  EXPECT_TRUE(writer.is_untouched());
  EXPECT_TRUE(victim("rom", Access::read_only).is_untouched(std::byte{}));
}

TEST_F(AttackerTest, CannotReachTheSlotsOfAFile) {
  FileClient client(waiter_, target_.address());
  ASSERT_TRUE(client.queue().connected());
  client.open();
  auto memory = attack("mine", Access::read_write);
  auto file = attack("disk", Access::read_only);
  for (std::uint64_t slot = 0; slot < 2; ++slot) {
    const Aim aim{client.slot_address(slot), client.slots().rkey};
    memory.try_both(aim);
    file.try_both(aim);
  }
  for (const std::uint32_t key : keys_near(client.slots().rkey)) {
    file.try_write({client.slot_address(0), key});
  }
}

TEST_F(AttackerTest, HasNothingLeftAfterDetaching) {
  auto attacker = attack("secret", Access::read_write);
  const Aim chunk = first_chunk_of(attacker);
  attacker.hold_queues();
  attacker.initiator().request(MessageType::detach,
                               protocol::Detach{attacker.attachment().attachment});
  auto other = attack("mine", Access::read_write);
  attacker.try_held(chunk, other);
  other.try_both(chunk);
  EXPECT_TRUE(victim("secret", Access::read_only).is_untouched(std::byte{}));
}

TEST_F(AttackerTest, HasNothingLeftWhenItsSessionIsEnded) {
  auto attacker = attack("secret", Access::read_write);
  attacker.hold_queues();
  attacker.initiator().send_bytes(std::vector<std::byte>(64));  // no message: it is thrown out
  wait_until_alone();
  auto other = attack("mine", Access::read_write);
  attacker.try_held(first_chunk_of(attacker), other);
  EXPECT_TRUE(victim("secret", Access::read_only).is_untouched(std::byte{}));
}

TEST_F(AttackerTest, HasNothingLeftWhenItsLeaseIsTakenOver) {
  auto attacker = attack("secret", Access::read_write);
  attacker.hold_queues();
  auto taker = victim("secret", Access::read_write, protocol::Attach::kTakeOver);
  auto other = attack("mine", Access::read_write);
  attacker.try_held(first_chunk_of(attacker), other);
  other.try_both(first_chunk_of(attacker));
  EXPECT_TRUE(taker.is_untouched());
}

TEST_F(EvictedAttackerTest, HasNothingLeft) {
  auto attacker = attack("secret", Access::read_write);
  attacker.hold_queues();
  EXPECT_THAT(attacker.initiator().receive().reason(), HasSubstr("nothing was heard"));
  wait_until_alone();
  auto other = attack("mine", Access::read_write);
  attacker.try_held(first_chunk_of(attacker), other);
  EXPECT_TRUE(victim("secret").is_untouched());
}

TEST_F(AttackerTest, ShowsInTheLog) {
  bool is_iwarp = false;
  {
    const auto secret = victim("secret");
    auto attacker = attack("mine", Access::read_write);
    attacker.try_write(secret.chunk(0));
    is_iwarp = attacker.connect()->is_iwarp();
  }
  target_.terminate();
  EXPECT_EQ(target_.wait(), 0);
  if (is_iwarp) GTEST_SKIP() << "soft-iWARP does not tell a refusal from a disconnection";
  EXPECT_NE(target_.log().find("put its I/O queue in error"), std::string::npos);
}

TEST_F(AttackerTest, IsNotSeenInWhoBehaves) {
  {
    Attacker client = attack("mine", Access::read_write);
    const protocol::ChunkEntry chunk = client.chunks().front();
    EXPECT_EQ(client.connect()->write(chunk.address, chunk.rkey, 64), IBV_WC_SUCCESS);
  }
  ++score_.attempts;  // of none
  target_.terminate();
  EXPECT_EQ(target_.wait(), 0);
  EXPECT_EQ(target_.log().find("put its I/O queue in error"), std::string::npos);
}

}  // namespace
}  // namespace rdmablk::testing
