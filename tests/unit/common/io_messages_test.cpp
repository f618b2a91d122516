#include "common/protocol/io_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "tests/unit/common/samples.h"

namespace rdmablk::protocol {
namespace {

using samples::encode;
using testing::ElementsAre;
using testing::FieldsAre;
using testing::Optional;

constexpr std::uint64_t kExportSize = 1U << 20U;

/// The payload of a request, with ranges behind it.
std::vector<std::byte> request_bytes(const IoRequest& request, std::span<const Range> ranges = {}) {
  std::vector<std::byte> bytes = encode(request);
  for (const Range& range : ranges) {
    const auto more = encode(range);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

bool is_taken(MessageType type, const IoRequest& request, std::span<const Range> ranges = {}) {
  const auto bytes = request_bytes(request, ranges);
  return IoCommand::decode(type, bytes, kExportSize).has_value();
}

constexpr std::array kWithRange{MessageType::read, MessageType::write, MessageType::zero,
                                MessageType::map};

TEST(QueueReply, GoesThereAndBack) {
  const auto bytes = encode(samples::queue_reply());
  EXPECT_EQ(bytes.size(), 32U);
  EXPECT_THAT(QueueReply::decode(bytes),
              Optional(FieldsAre(0xcccc, 0xdddd, 32, 136U << 10U, 128U << 10U, 4096)));
}

TEST(QueueReply, RefusesNoCommandsAndWhatIsNoAlignment) {
  QueueReply reply = samples::queue_reply();
  reply.commands = 0;
  EXPECT_FALSE(QueueReply::decode(encode(reply)));
  for (const std::uint32_t alignment : {0U, 3U, 4095U, 1U << 17U, 0xffffffffU}) {
    reply = samples::queue_reply();
    reply.alignment = alignment;
    EXPECT_FALSE(QueueReply::decode(encode(reply))) << alignment;
  }
  reply.alignment = 1U << 16U;
  EXPECT_TRUE(QueueReply::decode(encode(reply)));
}

TEST(IoRequest, GoesThereAndBack) {
  const auto bytes = encode(IoRequest{4096, 8192, IoRequest::kDurable | IoRequest::kDiscard, 7});
  ASSERT_EQ(bytes.size(), 24U);
  const auto command = IoCommand::decode(MessageType::zero, bytes, kExportSize);
  ASSERT_TRUE(command);
  EXPECT_THAT(command->request(), FieldsAre(4096, 8192, 3, 7));
  EXPECT_TRUE(command->durable());
  EXPECT_TRUE(command->discards());
  EXPECT_FALSE(command->has_more());
  EXPECT_EQ(command->range_count(), 0U);
}

TEST(IoCommand, MustLieWithinTheExport) {
  for (const MessageType type : kWithRange) {
    EXPECT_TRUE(is_taken(type, {0, 1, 0, 0}));
    EXPECT_TRUE(is_taken(type, {0, kExportSize, 0, 0}));
    EXPECT_TRUE(is_taken(type, {kExportSize - 1, 1, 0, 0}));
    EXPECT_FALSE(is_taken(type, {0, 0, 0, 0}));
    EXPECT_FALSE(is_taken(type, {kExportSize, 0, 0, 0}));
    EXPECT_FALSE(is_taken(type, {kExportSize, 1, 0, 0}));
    EXPECT_FALSE(is_taken(type, {0, kExportSize + 1, 0, 0}));
    EXPECT_FALSE(is_taken(type, {kExportSize - 1, 2, 0, 0}));
    EXPECT_FALSE(is_taken(type, {1, UINT64_MAX, 0, 0})) << "the end wraps around";
    EXPECT_FALSE(is_taken(type, {UINT64_MAX, 1, 0, 0}));
    EXPECT_FALSE(is_taken(type, {UINT64_MAX, UINT64_MAX, 0, 0}));
  }
}

TEST(IoCommand, TakesTheFlagsOfItsType) {
  const auto taken = [](MessageType type) {
    std::vector<unsigned> bits;
    for (unsigned bit = 0; bit < 32; ++bit) {
      IoRequest request{0, 512, std::uint32_t{1} << bit, 0};
      if (is_taken(type, request)) bits.push_back(bit);
    }
    return bits;
  };
  EXPECT_THAT(taken(MessageType::read), ElementsAre());
  EXPECT_THAT(taken(MessageType::write), ElementsAre(0));
  EXPECT_THAT(taken(MessageType::zero), ElementsAre(0, 1));
  EXPECT_THAT(taken(MessageType::flush), ElementsAre(2));
  EXPECT_THAT(taken(MessageType::map), ElementsAre());
}

TEST(IoCommand, CarriesRangesInAFlushOnly) {
  const std::array ranges{Range{0, 512}, Range{4096, 1}, Range{kExportSize - 1, 1}};
  const auto bytes = request_bytes({0, 0, IoRequest::kMore, 3}, ranges);
  const auto flush = IoCommand::decode(MessageType::flush, bytes, kExportSize);
  ASSERT_TRUE(flush);
  EXPECT_TRUE(flush->has_more());
  ASSERT_EQ(flush->range_count(), 3U);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_THAT(flush->range(i), FieldsAre(ranges[i].offset, ranges[i].length)) << i;
  }
  EXPECT_TRUE(is_taken(MessageType::flush, {}));
  for (const MessageType type : kWithRange) EXPECT_FALSE(is_taken(type, {0, 512, 0, 3}, ranges));
}

TEST(IoCommand, RefusesAFlushWhoseRangesAreNotAsCounted) {
  const std::array ranges{Range{0, 512}, Range{4096, 1}};
  EXPECT_TRUE(is_taken(MessageType::flush, {0, 0, 0, 2}, ranges));
  for (const std::uint32_t count : {0U, 1U, 3U, 0x10000002U, 0xffffffffU}) {
    EXPECT_FALSE(is_taken(MessageType::flush, {0, 0, 0, count}, ranges)) << count;
  }
}

TEST(IoCommand, RefusesAFlushOfWhatIsOutsideTheExport) {
  const auto is_refused = [](const Range& range) {
    const std::array ranges{Range{0, 512}, range};
    return !is_taken(MessageType::flush, {0, 0, 0, 2}, ranges);
  };
  EXPECT_FALSE(is_refused({512, kExportSize - 512}));
  EXPECT_TRUE(is_refused({512, 0}));
  EXPECT_TRUE(is_refused({512, kExportSize - 511}));
  EXPECT_TRUE(is_refused({kExportSize, 1}));
  EXPECT_TRUE(is_refused({513, UINT64_MAX}));
  EXPECT_TRUE(is_refused({UINT64_MAX, 1}));
}

TEST(IoCommand, RefusesAFlushWhoseRangesOverlapOrDoNotAscend) {
  const auto is_refused = [](const Range& first, const Range& second) {
    const std::array ranges{first, second};
    return !is_taken(MessageType::flush, {0, 0, 0, 2}, ranges);
  };
  EXPECT_FALSE(is_refused({0, 512}, {512, 512})) << "they only touch";
  EXPECT_TRUE(is_refused({0, 512}, {511, 1}));
  EXPECT_TRUE(is_refused({0, 512}, {0, 512}));
  EXPECT_TRUE(is_refused({512, 512}, {0, 512}));
  EXPECT_TRUE(is_refused({0, kExportSize}, {kExportSize - 1, 1}));
}

TEST(IoCommand, FitsAMessageWithAllItsRanges) {
  std::vector<Range> ranges(IoCommand::kMaxRanges);
  for (std::size_t i = 0; i < ranges.size(); ++i) ranges[i] = {512 * i, 512};
  const IoRequest request{0, 0, 0, IoCommand::kMaxRanges};
  EXPECT_LE(kHeaderSize + request_bytes(request, ranges).size(), kMaxMessage);
  EXPECT_GT(kHeaderSize + request_bytes(request, ranges).size() + Range::kSize, kMaxMessage);
  EXPECT_TRUE(is_taken(MessageType::flush, request, ranges));
}

/// The reply to MAP.
std::vector<std::byte> extents_bytes(std::span<const Extent> extents) {
  std::vector<std::byte> bytes(2 * kMaxMessage);
  WireWriter writer(bytes);
  encode_extents(writer, extents);
  bytes.resize(writer.ok() ? writer.size() : 0);
  return bytes;
}

TEST(Extents, GoThereAndBack) {
  const std::array sent{Extent{4096, false}, Extent{1, true}, Extent{UINT64_MAX, false}};
  const auto bytes = extents_bytes(sent);
  EXPECT_EQ(bytes.size(), 8U + 3 * Extent::kSize);
  std::array<Extent, kMaxExtents> received;
  ASSERT_EQ(decode_extents(bytes, received), sent.size());
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
  EXPECT_EQ(decode_extents(extents_bytes({}), received), 0U);
}

TEST(Extents, FitAMessageWhenThereAreAsManyAsMayBe) {
  const std::vector<Extent> full(kMaxExtents, Extent{512, true});
  const auto bytes = extents_bytes(full);
  EXPECT_LE(kHeaderSize + bytes.size(), kMaxMessage);
  EXPECT_GT(kHeaderSize + bytes.size() + Extent::kSize, kMaxMessage);
  std::array<Extent, kMaxExtents> received;
  EXPECT_EQ(decode_extents(bytes, received), kMaxExtents);
}

TEST(Extents, AreRefusedWhenThereAreMoreThanRoom) {
  const std::vector<Extent> extents(3, Extent{512, true});
  std::array<Extent, 2> received;
  EXPECT_FALSE(decode_extents(extents_bytes(extents), received));
}

TEST(Extents, AreRefusedWithAnEmptyOne) {
  std::array<Extent, 4> received;
  EXPECT_FALSE(decode_extents(extents_bytes(std::array{Extent{0, false}}), received));
  EXPECT_FALSE(
      decode_extents(extents_bytes(std::array{Extent{1, false}, Extent{0, true}}), received));
}

TEST(StatusOfErrno, IsWhatTheInitiatorReports) {
  const auto there_and_back = [](int error) { return errno_of_status(status_of_errno(error)); };
  for (const int error : {0, EIO, ENOSPC, EROFS, EOPNOTSUPP}) {
    EXPECT_EQ(there_and_back(error), error) << errno_of_status(status_of_errno(error));
  }
  EXPECT_EQ(there_and_back(EDQUOT), ENOSPC);
  EXPECT_EQ(there_and_back(EFBIG), ENOSPC);
  EXPECT_EQ(there_and_back(EPERM), EROFS);
  EXPECT_EQ(there_and_back(ENODEV), EIO);
  EXPECT_EQ(errno_of_status(Status::shutting_down), EIO);
  EXPECT_EQ(errno_of_status(static_cast<Status>(9999)), EIO);
}

}  // namespace
}  // namespace rdmablk::protocol
