#include <gtest/gtest.h>

#include <random>

#include "tests/unit/common/message_bounds.h"
#include "tests/unit/common/samples.h"

/// What holds for all messages, whatever bytes a peer sends.
namespace rdmablk::protocol {
namespace {

template <typename Message>
Message sample();

template <>
Hello sample() {
  return samples::hello();
}
template <>
HelloReply sample() {
  return samples::hello_reply();
}
template <>
List sample() {
  return samples::list();
}
template <>
ListReply sample() {
  return samples::list_reply();
}
template <>
Attach sample() {
  return samples::attach();
}
template <>
AttachReply sample() {
  return samples::attach_reply();
}
template <>
Detach sample() {
  return samples::detach();
}
template <>
EventNotice sample() {
  return samples::event_notice();
}
template <>
Table sample() {
  return samples::table();
}
template <>
TableReply sample() {
  return samples::table_reply();
}
template <>
Reason sample() {
  return samples::reason();
}
template <>
QueueReply sample() {
  return samples::queue_reply();
}

template <>
UseReport sample() {
  return samples::use_report();
}

template <typename Message>
class AnyMessage : public testing::Test {
 protected:
  std::vector<std::byte> good_ = samples::encode(sample<Message>());
  std::mt19937 random_{20240229};

  /// Decodes from a copy that ends where the payload ends, so that a sanitizer sees what reads on.
  static std::optional<Message> decode(std::span<const std::byte> bytes) {
    const std::vector<std::byte> exact(bytes.begin(), bytes.end());
    return Message::decode(exact);
  }
};

using Messages = testing::Types<Hello, HelloReply, List, ListReply, Attach, AttachReply, Detach,
                                EventNotice, Table, TableReply, Reason, QueueReply, UseReport>;
TYPED_TEST_SUITE(AnyMessage, Messages);

TYPED_TEST(AnyMessage, IsEncodedAgainToTheSameBytes) {
  const auto decoded = this->decode(this->good_);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(samples::encode(*decoded), this->good_);
}

TYPED_TEST(AnyMessage, DoesNotFitASmallerBuffer) {
  std::vector<std::byte> buffer(this->good_.size() - 1);
  WireWriter writer(buffer);
  sample<TypeParam>().encode(writer);
  EXPECT_FALSE(writer.ok());
}

TYPED_TEST(AnyMessage, OfRandomBytesIsRefusedOrInBounds) {
  for (int round = 0; round < 20000; ++round) {
    const bool has_right_length = round % 2 == 0;
    std::vector<std::byte> bytes(has_right_length ? this->good_.size() : this->random_() % 512);
    for (std::byte& byte : bytes) byte = std::byte(this->random_());
    const auto decoded = this->decode(bytes);
    if (decoded) {
      ASSERT_TRUE(is_in_bounds(*decoded)) << "round " << round;
    }
  }
}

TYPED_TEST(AnyMessage, WithSomeBytesChangedIsRefusedOrInBounds) {
  int accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    auto bytes = this->good_;
    for (std::size_t changes = 1 + this->random_() % 4; changes > 0; --changes) {
      bytes[this->random_() % bytes.size()] = std::byte(this->random_());
    }
    const auto decoded = this->decode(bytes);
    if (!decoded) continue;
    ++accepted;
    ASSERT_TRUE(is_in_bounds(*decoded)) << "round " << round;
  }
  EXPECT_GT(accepted, 100) << "hardly a message got as far as its bounds";
}

/// All but a Reason, whose text may have any length.
template <typename Message>
class SizedMessage : public AnyMessage<Message> {};

using SizedMessages = testing::Types<Hello, HelloReply, List, ListReply, Attach, AttachReply,
                                     Detach, EventNotice, Table, TableReply, QueueReply, UseReport>;
TYPED_TEST_SUITE(SizedMessage, SizedMessages);

TYPED_TEST(SizedMessage, IsRefusedWhenTruncated) {
  for (std::size_t length = 0; length < this->good_.size(); ++length) {
    EXPECT_FALSE(this->decode(std::span(this->good_).first(length))) << length;
  }
}

TYPED_TEST(SizedMessage, IsRefusedWithMoreBehindIt) {
  auto longer = this->good_;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(this->decode(longer));
}

}  // namespace
}  // namespace rdmablk::protocol
