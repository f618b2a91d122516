#include "target/authenticator.h"

#include <gtest/gtest.h>

#include <array>

#include "common/protocol/wire.h"

namespace rdmablk::target {
namespace {

using auth::Key;

const Key kKey = Key::generate();

/// Both ends of a handshake, as far as they get.
class AuthenticatorTest : public ::testing::Test {
 protected:
  AuthenticatorTest() { authenticator_.begin(hello_, reply_); }

  auth::Handshake handshake(const std::string& client = "alice") const {
    std::array<std::byte, 80> reply{};
    protocol::WireWriter writer(reply);
    reply_.encode(writer);
    return {hello_, reply, client, nonce_};
  }

  protocol::Authenticate request(const auth::Handshake& handshake, const Key& key = kKey) const {
    return {"alice", nonce_, handshake.client_proof(key)};
  }

  std::array<std::byte, 40> hello_{std::byte{1}};
  protocol::HelloReply reply_{.features = {}, .version = 1, .credits = 8};
  protocol::Token nonce_{std::byte{7}};
  ClientKeys keys_{{{"alice", kKey}}, "file"};
  Authenticator authenticator_{&keys_};
};

TEST_F(AuthenticatorTest, AsksWithAFreshNonce) {
  EXPECT_EQ(reply_.authentication, protocol::Authentication::pre_shared_key);
  EXPECT_NE(reply_.nonce, protocol::Token{});
  protocol::HelloReply other;
  Authenticator(&keys_).begin(hello_, other);
  EXPECT_NE(reply_.nonce, other.nonce);
}

TEST_F(AuthenticatorTest, BothEndsProveThemselvesAndAgreeOnAKey) {
  const auto proved = authenticator_.check(request(handshake()));
  ASSERT_TRUE(proved);
  EXPECT_EQ(proved->reply.proof, handshake().target_proof(kKey));
  EXPECT_EQ(proved->session_key, handshake().session_key(kKey));
}

TEST_F(AuthenticatorTest, RefusesAnotherKey) {
  EXPECT_FALSE(authenticator_.check(request(handshake(), Key::generate())));
}

TEST_F(AuthenticatorTest, RefusesAProofForAnotherName) {
  EXPECT_FALSE(authenticator_.check(request(handshake("bob"))));
}

TEST_F(AuthenticatorTest, RefusesTheProofOfAnotherSession) {
  protocol::HelloReply other{.features = {}, .version = 1, .credits = 8};
  Authenticator later(&keys_);
  later.begin(hello_, other);
  EXPECT_FALSE(later.check(request(handshake())));
}

TEST_F(AuthenticatorTest, RefusesASecondAttempt) {
  ASSERT_TRUE(authenticator_.check(request(handshake())));
  EXPECT_FALSE(authenticator_.check(request(handshake())));
}

TEST_F(AuthenticatorTest, GoesByTheKeysThatThereAreNow) {
  const Key other = Key::generate();
  keys_ = ClientKeys({{"alice", other}}, "file");
  EXPECT_TRUE(authenticator_.check(request(handshake(), other)));
}

TEST(AuthenticatorWithoutKeys, AsksForNothing) {
  protocol::HelloReply reply;
  Authenticator authenticator(nullptr);
  EXPECT_FALSE(authenticator.is_needed());
  authenticator.begin({}, reply);
  EXPECT_EQ(reply.authentication, protocol::Authentication::none);
  EXPECT_EQ(reply.nonce, protocol::Token{});
}

}  // namespace
}  // namespace rdmablk::target
