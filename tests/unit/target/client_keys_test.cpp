#include "target/client_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/protocol/wire.h"
#include "error_of.h"

namespace rdmablk::target {
namespace {

using auth::Key;
using ::testing::HasSubstr;

const Key kOld = Key::generate();
const Key kNew = Key::generate();
const Key kOfBob = Key::generate();

class ClientKeysTest : public ::testing::Test {
 protected:
  std::optional<Key> match(const std::string& client, const protocol::Token& proof) const {
    return keys_.match(client, handshake_, proof);
  }

  ClientKeys keys_{{{"alice", kOld}, {"bob", kOfBob}, {"alice", kNew}}, "file"};
  auth::Handshake handshake_{{}, {}, "alice", {}};
};

TEST_F(ClientKeysTest, KnowsItsClients) {
  EXPECT_EQ(keys_.size(), 2U);
  EXPECT_TRUE(keys_.has("alice"));
  EXPECT_FALSE(keys_.has("carol"));
}

TEST_F(ClientKeysTest, BothKeysOfAClientAreGood) {
  EXPECT_EQ(match("alice", handshake_.client_proof(kOld)), kOld);
  EXPECT_EQ(match("alice", handshake_.client_proof(kNew)), kNew);
}

TEST_F(ClientKeysTest, AnotherClientsKeyIsNot) {
  EXPECT_FALSE(match("alice", handshake_.client_proof(kOfBob)));
  EXPECT_FALSE(match("bob", handshake_.client_proof(kOld)));
  EXPECT_FALSE(match("carol", handshake_.client_proof(kOld)));
  EXPECT_FALSE(match("alice", handshake_.client_proof(Key::generate())));
  EXPECT_FALSE(match("alice", {}));
}

TEST_F(ClientKeysTest, ATargetsProofIsNot) {
  EXPECT_FALSE(match("alice", handshake_.target_proof(kOld)));
}

TEST_F(ClientKeysTest, EveryBitOfAProofCounts) {
  for (std::size_t bit = 0; bit < 256; ++bit) {
    auto proof = handshake_.client_proof(kNew);
    proof[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(match("alice", proof)) << bit;
  }
}

TEST_F(ClientKeysTest, RefusesAFileThatIsOfNoUse) {
  EXPECT_THAT(error_of<Error>([] {
                ClientKeys({{"", kOld}}, "file");
              }),
              HasSubstr("no client's name"));
  EXPECT_THAT(error_of<Error>([] {
                ClientKeys({{"a", kOld}, {"a", kNew}, {"a", kOfBob}}, "file");
              }),
              HasSubstr("more than 2 keys"));
}

}  // namespace
}  // namespace rdmablk::target
