// Attachments of file exports: what they are granted, and that all of them together take no more
// than there is.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "sample_catalog.h"
#include "scratch_directory.h"
#include "target/file_store.h"
#include "target/session_protocol.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::MessageType;
using protocol::Status;

constexpr std::uint64_t kKiB = 1024;

class SessionFilesTest : public ::testing::Test {
 protected:
  SessionFilesTest() {
    Offer offer = sample_offer("disk");
    offer.info.kind = protocol::ExportKind::file;
    offer.store = &store_;
    offer.budget = &budget_;
    catalog_.add(offer);
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    request(MessageType::hello, hello);
    protocol_->join();
  }

  template <typename Payload>
  Step request(MessageType type, const Payload& payload) {
    protocol::WireWriter writer(buffer_);
    payload.encode(writer);
    return protocol_->handle(
        {{type, false, Status::ok, 1}, std::span(buffer_).first(writer.size())});
  }

  static protocol::Attach attach_of(std::uint16_t queues, std::uint32_t depth,
                                    std::uint32_t max_io) {
    protocol::Attach attach;
    attach.name = "disk";
    attach.access = Access::read_write;
    attach.queues = queues;
    attach.depth = depth;
    attach.max_io = max_io;
    return attach;
  }

  /// What an attachment is granted; nothing when it is refused.
  std::optional<protocol::AttachReply> attach(const protocol::Attach& asked) {
    const Step step = request(MessageType::attach, asked);
    if (step.attached == nullptr) return std::nullopt;
    return step.attached->reply();
  }

  ScratchDirectory scratch_;
  FileStore store_{
      parse_export_spec("disk=file:" + scratch_.make("disk.img", 1 << 20) + ",direct=off"), 0};
  SlotBudget budget_{1024 * kKiB};
  Catalog catalog_;
  Limits limits_;
  std::optional<SessionProtocol> protocol_{std::in_place, 5, protocol::InstanceId{}, catalog_,
                                           limits_};
  std::array<std::byte, protocol::kMaxMessage> buffer_{};
};

TEST_F(SessionFilesTest, GrantsWithinItsLimits) {
  limits_.slots = 4;
  limits_.slot_size = 16 * kKiB;
  const auto small = attach(attach_of(1, 2, 4096));
  ASSERT_TRUE(small);
  EXPECT_EQ(small->depth, 2U);
  EXPECT_EQ(small->max_io, 4096U);
  const auto large = attach(attach_of(2, 1000, 1 << 30));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->queues, 2U);
  EXPECT_EQ(large->depth, 4U);
  EXPECT_EQ(large->max_io, 16 * kKiB);
}

TEST_F(SessionFilesTest, CountsSlotsAndTheirMessages) {
  ASSERT_TRUE(attach(attach_of(2, 3, 4096)));
  EXPECT_EQ(budget_.used(), 2 * 3 * (4096 + 2 * protocol::kMaxMessage));
}

TEST_F(SessionFilesTest, GrantsFewerQueuesWhenLittleIsLeftThenFewerSlotsThenNone) {
  const auto asked = attach_of(8, 8, 16 * kKiB);  // 8 x 192 KiB
  const auto most = attach(asked);
  ASSERT_TRUE(most);
  EXPECT_EQ(most->queues, 4U);
  const auto last = attach(asked);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->queues, 1U);
  EXPECT_EQ(last->depth, 8U);
  const auto rest = attach(asked);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->depth, 2U);
  EXPECT_FALSE(attach(asked));
  request(MessageType::detach, protocol::Detach{most->attachment});
  EXPECT_TRUE(attach(asked)) << "what it had is free again";
}

TEST_F(SessionFilesTest, WhateverIsAskedForKeepsTheBounds) {
  std::mt19937_64 random{7};
  const auto any = [&]() -> std::uint64_t {
    constexpr std::array<std::uint64_t, 6> kNear{0, 1, 32, 512, 1 << 17, UINT64_MAX};
    return kNear[random() % kNear.size()] + random() % 3 - 1;
  };
  std::vector<std::uint64_t> attachments;
  int granted = 0;
  for (int round = 0; round < 5000; ++round) {
    auto asked = attach_of(static_cast<std::uint16_t>(any()), static_cast<std::uint32_t>(any()),
                           static_cast<std::uint32_t>(any()));
    asked.access = random() % 2 == 0 ? Access::read_only : Access::read_write;
    if (const auto reply = attach(asked)) {
      ++granted;
      attachments.push_back(reply->attachment);
      ASSERT_GE(reply->queues, 1U);
      ASSERT_LE(reply->queues, limits_.queues);
      ASSERT_GE(reply->depth, 1U);
      ASSERT_LE(reply->depth, limits_.slots);
      ASSERT_GE(reply->max_io, 512U);
      ASSERT_LE(reply->max_io, limits_.slot_size);
    }
    ASSERT_LE(budget_.used(), budget_.limit());
    ASSERT_LE(attachments.size(), limits_.attachments);
    if (random() % 2 == 0 && !attachments.empty()) {
      request(MessageType::detach, protocol::Detach{attachments.back()});
      attachments.pop_back();
    }
  }
  EXPECT_GT(granted, 500);
  protocol_.reset();
  EXPECT_EQ(budget_.used(), 0U);
}

TEST_F(SessionFilesTest, WhateverBytesAnAttachHasKeepTheBounds) {
  std::mt19937_64 random{8};
  struct Bytes {
    std::vector<std::byte> bytes;
    void encode(protocol::WireWriter& writer) const { writer.put(std::span(bytes)); }
  };
  protocol::WireWriter sample(buffer_);
  attach_of(2, 4, 4096).encode(sample);
  const std::vector<std::byte> good(buffer_.begin(), buffer_.begin() + sample.size());
  for (int round = 0; round < 5000; ++round) {
    Bytes bytes{good};
    // Behind the name, or nearly none would be found.
    for (int changes = 0; changes < 4; ++changes) {
      bytes.bytes[64 + random() % (good.size() - 64)] = std::byte(random());
    }
    if (random() % 8 == 0) bytes.bytes.resize(random() % good.size());
    protocol_.emplace(6, protocol::InstanceId{}, catalog_, limits_);
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    request(MessageType::hello, hello);
    protocol_->join();
    const Step step = request(MessageType::attach, bytes);
    ASSERT_TRUE(step.send);
    ASSERT_LE(budget_.used(), budget_.limit());
  }
}

}  // namespace
}  // namespace rdmablk::target
