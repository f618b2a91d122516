#include "common/cm/tcp/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::cm::tcp {
namespace {

using ::testing::ElementsAre;

Endpoint endpoint() {
  Endpoint endpoint;
  endpoint.queue_pair = 0x01'0203;
  endpoint.packet = 0x0a'0b0c;
  endpoint.lid = 0x1122;
  endpoint.link_layer = IBV_LINK_LAYER_ETHERNET;
  endpoint.gid_type = IBV_GID_TYPE_ROCE_V2;
  endpoint.mtu = IBV_MTU_1024;
  endpoint.initiator_depth = 16;
  endpoint.responder_depth = 1;
  for (std::size_t i = 0; i < endpoint.gid.size(); ++i) {
    endpoint.gid[i] = static_cast<std::byte>(0xf0 + i);
  }
  return endpoint;
}

std::vector<std::byte> bytes(std::size_t size) {
  return std::vector<std::byte>(size, std::byte{0x77});
}

std::span<const std::byte> body_of(const std::vector<std::byte>& message) {
  return std::span(message).subspan(Header::kSize);
}

/// As docs/protocol.md has it.
TEST(ExchangeTest, HasTheDocumentedLayout) {
  const auto message = encode(Request{endpoint(), bytes(2)});
  std::vector<int> values;
  for (const std::byte byte : message) values.push_back(std::to_integer<int>(byte));
  EXPECT_THAT(values, ElementsAre('R', 'B', 'C', 'M', 1, 1, 38, 0,  // header
                                  3, 2, 1, 0, 0x0c, 0x0b, 0x0a, 0,  // queue pair, packet
                                  0x22, 0x11, 2, 2, 3, 16, 1,       // LID to responder depth
                                  0, 0, 0, 0, 0,                    // reserved
                                  0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa,
                                  0xfb, 0xfc, 0xfd, 0xfe, 0xff,  // GID
                                  0x77, 0x77));                  // private data
  EXPECT_EQ(encode(Ready{}).size(), Header::kSize);
}

TEST(ExchangeTest, SaysWhatWasSaid) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMaxPrivateData}) {
    const Request request{endpoint(), bytes(size)};
    EXPECT_EQ(decode_request(body_of(encode(request))), request);
  }
  const Accept accept{endpoint()};
  EXPECT_EQ(decode_accept(body_of(encode(accept))), accept);
  for (const std::size_t size : {std::size_t{0}, kMaxRejectData}) {
    const Reject reject{Reject::By::connection, bytes(size)};
    EXPECT_EQ(decode_reject(body_of(encode(reject))), reject);
  }
  EXPECT_EQ(decode_ready(body_of(encode(Ready{}))), Ready{});
}

TEST(ExchangeTest, RefusesEveryShorterMessage) {
  const auto accept = encode(Accept{endpoint()});
  for (std::size_t size = 0; size < body_of(accept).size(); ++size) {
    EXPECT_FALSE(decode_accept(body_of(accept).first(size))) << size;
    EXPECT_FALSE(decode_request(body_of(accept).first(size))) << size;
  }
  EXPECT_FALSE(decode_reject({}));
}

TEST(ExchangeTest, RefusesLongerMessages) {
  const auto append = [](std::vector<std::byte> message, std::size_t size) {
    message.resize(message.size() + size);
    return message;
  };
  EXPECT_FALSE(decode_accept(body_of(append(encode(Accept{endpoint()}), 1))));
  EXPECT_FALSE(decode_ready(body_of(append(encode(Ready{}), 1))));
  EXPECT_FALSE(decode_request(body_of(append(encode(Request{endpoint(), bytes(56)}), 1))));
  EXPECT_FALSE(decode_reject(body_of(append(encode(Reject{Reject::By::program, bytes(148)}), 1))));
}

/// Changes one endpoint, and tells whether it is taken.
template <typename Change>
bool is_taken(Change change) {
  Endpoint changed = endpoint();
  change(changed);
  return decode_accept(body_of(encode(Accept{changed}))).has_value();
}

TEST(ExchangeTest, RefusesEndpointsThatCannotBe) {
  EXPECT_TRUE(is_taken([](Endpoint&) {}));
  EXPECT_TRUE(is_taken([](Endpoint& e) { e.queue_pair = 0xff'ffff; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.queue_pair = 0x100'0000; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.packet = 0x100'0000; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.link_layer = 0; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.link_layer = 3; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.gid_type = 3; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.mtu = 0; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.mtu = 6; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.initiator_depth = 0; }));
  EXPECT_FALSE(is_taken([](Endpoint& e) { e.responder_depth = 0; }));
}

TEST(ExchangeTest, RefusesHeadersThatAreNone) {
  auto message = encode(Ready{});
  const auto decode = [&] { return Header::decode(std::span(message).first<Header::kSize>()); };
  ASSERT_TRUE(decode());
  message[4] = std::byte{2};
  EXPECT_TRUE(decode()) << "another version is told of";
  message[5] = std::byte{0};
  EXPECT_FALSE(decode());
  message[5] = std::byte{5};
  EXPECT_FALSE(decode());
  message[5] = std::byte{1};
  message[7] = std::byte{1};
  message[6] = std::byte{1};
  EXPECT_FALSE(decode()) << "257 bytes";
  message[6] = std::byte{0};
  EXPECT_TRUE(decode()) << "256 bytes";
  message[0] = std::byte{};
  EXPECT_FALSE(decode());
}

TEST(ExchangeTest, ShowsNoControlCharacters) {
  Reject reject;
  for (const char c : {'a', '\n', '\x1b', '\x7f', '\xc3'}) {
    reject.data.push_back(static_cast<std::byte>(c));
  }
  EXPECT_EQ(reject.text(), "a????");
}

}  // namespace
}  // namespace rdmablk::cm::tcp
