#include "common/auth/handshake.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "common/auth/hmac.h"
#include "common/auth/queue_proof.h"
#include "tests/unit/common/samples.h"

namespace rdmablk::auth {
namespace {

using protocol::Token;
using Bytes = std::vector<std::byte>;

const Key kKey =
    *Key::parse("rdmablk-key-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");

/// What goes into a handshake.
struct Said {
  Bytes hello = protocol::samples::encode(protocol::samples::hello());
  Bytes reply = protocol::samples::encode(protocol::samples::hello_reply());
  std::string client = "alice";
  Token nonce = protocol::samples::counting_from<Token>(7);

  Handshake handshake() const { return Handshake(hello, reply, client, nonce); }
};

/// The label, its zero, and the transcript, put together by hand.
Token expected(std::string_view label, const Said& said) {
  Bytes bytes;
  const auto add = [&](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  add(std::as_bytes(std::span(label)));
  bytes.push_back(std::byte{0});
  add(said.hello);
  add(said.reply);
  Bytes name(64);
  for (std::size_t i = 0; i < said.client.size(); ++i) name[i] = std::byte(said.client[i]);
  add(name);
  add(said.nonce);
  return hmac_sha256(kKey.bytes(), {bytes});
}

TEST(Handshake, CoversWhatIsWrittenDown) {
  const Said said;
  EXPECT_EQ(said.handshake().client_proof(kKey), expected("rdmablk 1 client proof", said));
  EXPECT_EQ(said.handshake().target_proof(kKey), expected("rdmablk 1 target proof", said));
  EXPECT_EQ(said.handshake().session_key(kKey), Key(expected("rdmablk 1 session key", said)));
}

// A proof of one end is worth nothing as that of the other, and neither is the key.
TEST(Handshake, CannotBeReflected) {
  const Handshake handshake = Said().handshake();
  EXPECT_NE(handshake.client_proof(kKey), handshake.target_proof(kKey));
  EXPECT_FALSE(handshake.session_key(kKey) == Key(handshake.client_proof(kKey)));
  EXPECT_FALSE(handshake.session_key(kKey) == Key(handshake.target_proof(kKey)));
}

TEST(Handshake, EveryBitThatWasSaidCounts) {
  std::set<Token> proofs{Said().handshake().client_proof(kKey)};
  std::size_t changes = 0;
  const auto flip_each = [&](auto field) {
    const std::size_t size = std::invoke(field, Said()).size();
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      Said said;
      std::invoke(field, said)[bit / 8] ^= std::byte{1} << (bit % 8);
      proofs.insert(said.handshake().client_proof(kKey));
      ++changes;
    }
  };
  flip_each(&Said::hello);
  flip_each(&Said::reply);
  flip_each(&Said::nonce);
  for (const char* const client : {"alicf", "alice0", "alic", "Alice"}) {
    Said said;
    said.client = client;
    proofs.insert(said.handshake().client_proof(kKey));
    ++changes;
  }
  EXPECT_EQ(proofs.size(), changes + 1);
}

TEST(Handshake, EveryBitOfTheKeyCounts) {
  const Handshake handshake = Said().handshake();
  std::set<Token> proofs{handshake.client_proof(kKey)};
  for (std::size_t bit = 0; bit < 8 * Key::kSize; ++bit) {
    Token bytes;
    std::copy(kKey.bytes().begin(), kKey.bytes().end(), bytes.begin());
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    proofs.insert(handshake.client_proof(Key(bytes)));
  }
  EXPECT_EQ(proofs.size(), 8 * Key::kSize + 1);
}

protocol::QueueRequest sample_queue() {
  return {3, 4, 0x1112131415161718, protocol::samples::counting_from<protocol::Nonce>(1), {}};
}

TEST(QueueProof, CoversWhatIsWrittenDown) {
  const auto request = sample_queue();
  constexpr std::string_view kLabel("rdmablk 1 queue proof\0", 22);
  const auto bytes = request.encode();
  EXPECT_EQ(queue_proof(kKey, request), hmac_sha256(kKey.bytes(), {std::as_bytes(std::span(kLabel)),
                                                                   std::span(bytes).first(24)}));
}

TEST(QueueProof, IsOfOneQueueOneEpochOneAttachmentAndOneNonce) {
  const auto request = sample_queue();
  std::set<Token> proofs{queue_proof(kKey, request)};
  const std::vector<std::function<void(protocol::QueueRequest&)>> changes{
      [](auto& other) { other.queue ^= 1U; },
      [](auto& other) { other.queue ^= 0x8000U; },
      [](auto& other) { other.epoch ^= 1U; },
      [](auto& other) { other.epoch ^= 0x80000000U; },
      [](auto& other) { other.attachment ^= 1U; },
      [](auto& other) { other.attachment ^= 0x8000000000000000U; },
      [](auto& other) { other.nonce[0] ^= std::byte{1}; },
      [](auto& other) { other.nonce[7] ^= std::byte{0x80}; }};
  for (const auto& change : changes) {
    auto other = request;
    change(other);
    proofs.insert(queue_proof(kKey, other));
  }
  EXPECT_EQ(proofs.size(), changes.size() + 1);
  EXPECT_FALSE(proofs.contains(queue_proof(Key(queue_proof(kKey, request)), request)));
}

TEST(QueueProof, DoesNotCoverItself) {
  auto request = sample_queue();
  const Token proof = queue_proof(kKey, request);
  request.proof = proof;
  EXPECT_EQ(queue_proof(kKey, request), proof);
}

}  // namespace
}  // namespace rdmablk::auth
