#include "common/protocol/private_data.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/common/samples.h"

namespace rdmablk::protocol {
namespace {

QueueRequest sample_request() {
  return {3, 0x01020304, 0x1112131415161718, samples::counting_from<Nonce>(1),
          samples::counting_from<Token>(2)};
}

TEST(QueueRequest, GoesThereAndBack) {
  const QueueRequest sent = sample_request();
  const auto received = QueueRequest::decode(sent.encode());
  ASSERT_TRUE(received);
  EXPECT_EQ(received->queue, sent.queue);
  EXPECT_EQ(received->epoch, sent.epoch);
  EXPECT_EQ(received->attachment, sent.attachment);
  EXPECT_EQ(received->nonce, sent.nonce);
  EXPECT_EQ(received->proof, sent.proof);
}

TEST(QueueRequest, FitsThePrivateDataOfRdmaCm) {
  EXPECT_EQ(QueueRequest::kSize, 56U);
  EXPECT_EQ(std::to_integer<unsigned>(sample_request().encode()[0]), 56U);
}

TEST(QueueRequest, TakesThePaddingOfTheTransport) {
  const auto bytes = sample_request().encode();
  std::vector<std::byte> padded(bytes.begin(), bytes.end());
  padded.resize(196);
  EXPECT_TRUE(QueueRequest::decode(padded));
}

TEST(QueueRequest, IsRefusedWhenTruncated) {
  const auto bytes = sample_request().encode();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::vector<std::byte> part(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(QueueRequest::decode(part)) << length;
  }
}

TEST(QueueRequest, RefusesAnotherLengthOrVersion) {
  for (const std::size_t byte : {0U, 1U}) {
    for (const unsigned wrong : {0U, 2U, 55U, 57U, 255U}) {
      auto bytes = sample_request().encode();
      bytes[byte] = std::byte(wrong);
      EXPECT_FALSE(QueueRequest::decode(bytes)) << byte << " " << wrong;
    }
  }
}

TEST(QueueRefusal, GoesThereAndBack) {
  const auto received = QueueRefusal::decode(QueueRefusal{Status::stale, "too old"}.encode());
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::stale);
  EXPECT_EQ(received->text, "too old");
}

TEST(QueueRefusal, CutsItsText) {
  const auto received =
      QueueRefusal::decode(QueueRefusal{Status::limit, std::string(1000, 'x')}.encode());
  ASSERT_TRUE(received);
  EXPECT_EQ(received->text, std::string(128, 'x'));
}

TEST(QueueRefusal, LosesItsControlCharacters) {
  const auto received = QueueRefusal::decode(QueueRefusal{Status::limit, "a\x1b[b"}.encode());
  ASSERT_TRUE(received);
  EXPECT_EQ(received->text, "a?[b");
}

TEST(QueueRefusal, IsRefusedWhenTruncated) {
  const auto bytes = QueueRefusal{Status::stale, "too old"}.encode();
  for (std::size_t length = 0; length < 136; ++length) {
    const std::vector<std::byte> part(bytes.begin(),
                                      bytes.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_FALSE(QueueRefusal::decode(part)) << length;
  }
}

TEST(PrivateData, SurvivesRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 50000; ++round) {
    std::vector<std::byte> bytes(random() % 200);
    for (std::byte& byte : bytes) byte = std::byte(random());
    if (bytes.size() >= 2 && round % 2 == 0) {
      bytes[0] = round % 4 == 0 ? std::byte(QueueRequest::kSize) : std::byte(kVersion);
      bytes[1] = std::byte(kVersion);
    }
    QueueRequest::decode(bytes);
    const auto refusal = QueueRefusal::decode(bytes);
    if (!refusal) continue;
    for (const char c : refusal->text) ASSERT_TRUE(c >= ' ' && c < 0x7f);
  }
}

}  // namespace
}  // namespace rdmablk::protocol
