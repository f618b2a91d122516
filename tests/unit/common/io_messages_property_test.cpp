#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/unit/common/samples.h"

/// What holds for all messages on I/O queues, whatever bytes a peer sends.
namespace rdmablk::protocol {
namespace {

constexpr std::uint64_t kExportSize = (1U << 20U) + 512;

constexpr std::array kTypes{MessageType::read, MessageType::write, MessageType::flush,
                            MessageType::zero, MessageType::map};

bool is_within_export(std::uint64_t offset, std::uint64_t length) {
  return length > 0 && offset < kExportSize && length <= kExportSize - offset;
}

/// Whether a command that was accepted is within the bounds that the target relies on.
bool is_in_bounds(MessageType type, const IoCommand& command) {
  if (type != MessageType::flush) {
    return command.range_count() == 0 &&
           is_within_export(command.request().offset, command.request().length);
  }
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < command.range_count(); ++i) {
    const Range range = command.range(i);
    if (!is_within_export(range.offset, range.length) || range.offset < end) return false;
    end = range.offset + range.length;
  }
  return command.range_count() == command.request().count;
}

class AnyBytes : public testing::Test {
 protected:
  std::mt19937_64 random_{20240301};

  std::vector<std::byte> random_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = std::byte(random_());
    return bytes;
  }

  /// A number near where things go wrong: around 0, the export's end, and where sums wrap around.
  std::uint64_t telling_number() {
    constexpr std::array<std::uint64_t, 4> kNear{0, kExportSize, kExportSize / 2, UINT64_MAX};
    return kNear[random_() % kNear.size()] + random_() % 5 - 2;
  }

  void change_some(std::vector<std::byte>& bytes) {
    for (std::size_t changes = random_() % 4; changes > 0 && !bytes.empty(); --changes) {
      bytes[random_() % bytes.size()] = std::byte(random_());
    }
  }
};

class AnyCommand : public AnyBytes {
 protected:
  unsigned accepted_ = 0;

  /// Decodes from a copy that ends where the payload ends, so that a sanitizer sees what reads on.
  void expect_refused_or_in_bounds(MessageType type, std::span<const std::byte> bytes) {
    const std::vector<std::byte> exact(bytes.begin(), bytes.end());
    const auto command = IoCommand::decode(type, exact, kExportSize);
    if (!command) return;
    ++accepted_;
    ASSERT_TRUE(is_in_bounds(type, *command));
  }

  std::vector<std::byte> flush(std::uint32_t count, auto&& next_range) {
    auto bytes = samples::encode(IoRequest{0, 0, IoRequest::kMore, count});
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto more = samples::encode(next_range());
      bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
  }
};

TEST_F(AnyCommand, OfRandomBytesIsRefusedOrInBounds) {
  for (int round = 0; round < 20000; ++round) {
    const auto bytes = random_bytes(round % 2 == 0 ? sizeof(IoRequest) : random_() % 512);
    for (const MessageType type : kTypes) expect_refused_or_in_bounds(type, bytes);
  }
}

TEST_F(AnyCommand, OfTellingNumbersIsRefusedOrInBounds) {
  for (int round = 0; round < 50000; ++round) {
    const IoRequest request{telling_number(), telling_number(),
                            static_cast<std::uint32_t>(random_() % 3), 0};
    const auto bytes = samples::encode(request);
    for (const MessageType type : kTypes) expect_refused_or_in_bounds(type, bytes);
  }
  EXPECT_GT(accepted_, 1000U) << "hardly a command got as far as its bounds";
}

TEST_F(AnyCommand, WithRangesOfTellingNumbersIsRefusedOrInBounds) {
  for (int round = 0; round < 50000; ++round) {
    auto bytes = flush(static_cast<std::uint32_t>(random_() % 3), [&] {
      return Range{telling_number(), telling_number()};
    });
    change_some(bytes);
    expect_refused_or_in_bounds(MessageType::flush, bytes);
  }
  EXPECT_GT(accepted_, 1000U) << "hardly a command got as far as its bounds";
}

TEST_F(AnyCommand, IsRefusedWhenTruncatedOrWithMoreBehindIt) {
  std::uint64_t offset = 0;
  const auto whole = flush(4, [&] { return Range{offset += 512, 512}; });
  ASSERT_TRUE(IoCommand::decode(MessageType::flush, whole, kExportSize));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> bytes(whole.begin(), whole.begin() + static_cast<long>(length));
    EXPECT_FALSE(IoCommand::decode(MessageType::flush, bytes, kExportSize)) << length;
  }
  for (const MessageType type : kTypes) {
    auto longer = samples::encode(IoRequest{0, 512, 0, 0});
    ASSERT_TRUE(IoCommand::decode(type, longer, kExportSize));
    for (std::size_t length = 0; length < longer.size(); ++length) {
      const std::vector<std::byte> bytes(longer.begin(),
                                         longer.begin() + static_cast<long>(length));
      EXPECT_FALSE(IoCommand::decode(type, bytes, kExportSize)) << length;
    }
    longer.push_back(std::byte{0});
    EXPECT_FALSE(IoCommand::decode(type, longer, kExportSize));
  }
}

class AnyMap : public AnyBytes {
 protected:
  static constexpr std::size_t kRoom = 5;

  static std::vector<std::byte> encode(std::span<const Extent> extents) {
    std::vector<std::byte> bytes(2 * kMaxMessage);
    WireWriter writer(bytes);
    encode_extents(writer, extents);
    bytes.resize(writer.size());
    return bytes;
  }

  /// Decodes into memory that ends where the room ends.
  static std::optional<std::size_t> decode(std::span<const std::byte> payload) {
    const std::vector<std::byte> exact(payload.begin(), payload.end());
    std::vector<Extent> into(kRoom);
    const auto count = decode_extents(exact, into);
    if (!count) return count;
    EXPECT_LE(*count, kRoom);
    for (const Extent& extent : std::span(into).first(*count)) EXPECT_GT(extent.length, 0U);
    return count;
  }
};

TEST_F(AnyMap, OfRandomBytesIsRefusedOrInBounds) {
  for (int round = 0; round < 20000; ++round) decode(random_bytes(random_() % 256));
}

TEST_F(AnyMap, WithSomeBytesChangedIsRefusedOrInBounds) {
  int accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    std::vector<Extent> extents(random_() % (kRoom + 2));
    for (Extent& extent : extents) extent = {telling_number(), random_() % 2 == 0};
    auto bytes = encode(extents);
    change_some(bytes);
    if (decode(bytes)) ++accepted;
  }
  EXPECT_GT(accepted, 1000) << "hardly a map got as far as its bounds";
}

TEST_F(AnyMap, IsRefusedWhenTruncatedOrWithMoreBehindIt) {
  auto whole = encode(std::array{Extent{512, false}, Extent{512, true}});
  ASSERT_EQ(decode(whole), 2U);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode(std::span(whole).first(length))) << length;
  }
  whole.push_back(std::byte{0});
  EXPECT_FALSE(decode(whole));
}

}  // namespace
}  // namespace rdmablk::protocol
