#include "common/protocol/header.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace rdmablk::protocol {
namespace {

/// A message with a payload of the given size whose bytes count up.
std::vector<std::byte> make_message(const Header& header, std::size_t payload_size) {
  std::vector<std::byte> buffer(kHeaderSize + payload_size);
  for (std::size_t i = 0; i < payload_size; ++i) buffer[kHeaderSize + i] = std::byte(i);
  EXPECT_EQ(finish_message(buffer, header, payload_size), buffer.size());
  return buffer;
}

const Header kHeader{MessageType::attach, true, Status::no_export, 0x0102030405060708};

TEST(Header, GoesThereAndBack) {
  const auto bytes = make_message(kHeader, 5);
  const auto message = decode_message(bytes);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->header.type, MessageType::attach);
  EXPECT_TRUE(message->header.is_reply);
  EXPECT_EQ(message->header.status, Status::no_export);
  EXPECT_EQ(message->header.tag, 0x0102030405060708U);
  ASSERT_EQ(message->payload.size(), 5U);
  EXPECT_EQ(message->payload.data(), bytes.data() + kHeaderSize);
}

TEST(Header, HasTheBytesThatTheProtocolSays) {
  const auto bytes = make_message(kHeader, 2);
  const std::array<unsigned, kHeaderSize> expected{'R', 'B', 'L', 'K', 1, 1, 4, 0, 26, 0, 0, 0,
                                                   4,   0,   0,   0,   8, 7, 6, 5, 4,  3, 2, 1};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), expected[i]) << "byte " << i;
  }
}

TEST(Header, IsRefusedAtEveryOtherLength) {
  const auto bytes = make_message(kHeader, 5);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_message(std::span(bytes).first(length))) << length;
  }
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_message(longer));
}

TEST(Header, RefusesOtherMagicVersionAndFlags) {
  const auto good = make_message(kHeader, 5);
  for (std::size_t byte = 0; byte < 5; ++byte) {
    auto bad = good;
    bad[byte] ^= std::byte{0x80};
    EXPECT_FALSE(decode_message(bad)) << "byte " << byte;
  }
  for (unsigned flag = 1; flag < 8; ++flag) {
    auto bad = good;
    bad[5] |= std::byte(1U << flag);
    EXPECT_FALSE(decode_message(bad)) << "flag " << flag;
  }
}

TEST(Header, RefusesMoreThanTheLongestMessage) {
  EXPECT_TRUE(decode_message(make_message(kHeader, kMaxMessage - kHeaderSize)));
  EXPECT_FALSE(decode_message(make_message(kHeader, kMaxMessage - kHeaderSize + 1)));
}

TEST(Header, SurvivesRandomBytes) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(64);
  for (int round = 0; round < 100000; ++round) {
    const std::size_t length = random() % (bytes.size() + 1);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = std::byte(random());
    const bool has_start = random() % 2 == 0 && length >= 6;
    if (has_start) std::memcpy(bytes.data(), "RBLK\1\1", 6);
    const auto message = decode_message(std::span(bytes).first(length));
    if (message) {
      EXPECT_EQ(message->payload.size(), length - kHeaderSize);
    }
  }
}

TEST(Header, KnowsATextForEveryStatus) {
  for (std::uint32_t status = 0; status <= 12; ++status) {
    EXPECT_STRNE(status_text(static_cast<Status>(status)), "unknown status") << status;
  }
  EXPECT_STREQ(status_text(static_cast<Status>(999)), "unknown status");
}

}  // namespace
}  // namespace rdmablk::protocol
