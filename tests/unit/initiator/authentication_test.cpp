#include "initiator/authentication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <vector>

#include "common/auth/key_file.h"
#include "common/auth/secret_file.h"
#include "common/error.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::initiator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Call>
std::string error_of(Call&& call) {
  try {
    call();
    return "(none)";
  } catch (const Error& error) {
    return error.what();
  }
}

class AuthenticationTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::string path = directory_.path(name);
    auth::create_secret_file(path, content);
    return path;
  }

  std::string make_key(const std::string& name, const std::string& client = {}) {
    const auth::Key key = auth::Key::generate();
    const auto text = key.text();
    return write(name, (client.empty() ? "" : client + " ") + std::string(text.view()) + "\n");
  }

  target::ScratchDirectory directory_;
};

TEST_F(AuthenticationTest, TheKeyFileMaySayWhoseItIs) {
  EXPECT_EQ(Credentials(make_key("a", "alice")).client(), "alice");
  EXPECT_EQ(Credentials(make_key("b", "bob"), "bob").client(), "bob");
  EXPECT_EQ(Credentials(make_key("c"), "carol").client(), "carol");
  EXPECT_THAT(error_of([&] { Credentials(make_key("d", "dave"), "eve"); }),
              AllOf(HasSubstr("'dave'"), HasSubstr("'eve'")));
}

TEST_F(AuthenticationTest, WithoutANameItIsTheHosts) {
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  const std::string whole = host.data();
  EXPECT_EQ(Credentials(make_key("a")).client(), whole.substr(0, whole.find('.')));
}

TEST_F(AuthenticationTest, AClientHasOneKey) {
  const auto line = std::string(auth::Key::generate().text().view()) + "\n";
  EXPECT_THAT(error_of([&] { Credentials(write("two", line + line)); }), HasSubstr("holds 2 keys"));
  EXPECT_THAT(error_of([&] { Credentials(write("none", "# none\n")); }), HasSubstr("holds 0 keys"));
  EXPECT_THAT(error_of([&] { Credentials(make_key("name"), "-x"); }), HasSubstr("'-x'"));
}

TEST_F(AuthenticationTest, AKeyThatWasChangedIsTakenAndOneThatIsGoneIsNot) {
  const std::string path = make_key("key", "alice");
  Credentials credentials(path);
  const auth::Key first = credentials.key();
  std::filesystem::rename(make_key("new", "alice"), path);
  credentials.refresh();
  const auth::Key second = credentials.key();
  EXPECT_FALSE(first == second);
  std::filesystem::rename(make_key("other", "bob"), path);
  credentials.refresh();
  EXPECT_EQ(credentials.key(), second);
  EXPECT_EQ(credentials.client(), "alice");
  std::filesystem::remove(path);
  credentials.refresh();
  EXPECT_EQ(credentials.key(), second);
}

// Neither one that asks nothing of somebody with a key, nor one that asks for what there is not.
TEST(CheckGreeting, WantsATargetThatAsksAsExpected) {
  protocol::HelloReply reply;
  reply.version = protocol::kVersion;
  EXPECT_EQ(error_of([&] { check_greeting("talk", reply, false); }), "(none)");
  EXPECT_THAT(error_of([&] { check_greeting("talk", reply, true); }),
              HasSubstr("does not prove who it is"));
  reply.authentication = protocol::Authentication::pre_shared_key;
  EXPECT_EQ(error_of([&] { check_greeting("talk", reply, true); }), "(none)");
  EXPECT_THAT(error_of([&] { check_greeting("talk", reply, false); }), HasSubstr("--keyfile"));
  reply.version = protocol::kVersion + 1;
  EXPECT_THAT(error_of([&] { check_greeting("talk", reply, true); }), HasSubstr("version"));
}

class MutualProofTest : public AuthenticationTest {
 protected:
  auth::Handshake targets_view() const {
    const auto request = proof_.request();
    return {hello_, reply_, request.client, request.nonce};
  }

  std::string error_of_proof(const protocol::Token& proof) const {
    return error_of([&] { proof_.verify("open a session", {proof}); });
  }

  std::vector<std::byte> hello_{40, std::byte{1}};
  std::vector<std::byte> reply_{80, std::byte{2}};
  Credentials credentials_{make_key("key", "alice")};
  MutualProof proof_{hello_, reply_, credentials_};
};

TEST_F(MutualProofTest, ProvesTheClientAndBelievesTheTarget) {
  EXPECT_EQ(proof_.request().client, "alice");
  EXPECT_EQ(proof_.request().proof, targets_view().client_proof(credentials_.key()));
  EXPECT_EQ(proof_.verify("talk", {targets_view().target_proof(credentials_.key())}),
            targets_view().session_key(credentials_.key()));
}

TEST_F(MutualProofTest, BelievesNobodyElse) {
  EXPECT_THAT(error_of_proof({}), HasSubstr("does not have the key of client 'alice'"));
  EXPECT_NE(error_of_proof(targets_view().target_proof(auth::Key::generate())), "(none)");
  const protocol::Token good = targets_view().target_proof(credentials_.key());
  for (std::size_t bit = 0; bit < 256; ++bit) {
    auto proof = good;
    proof[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(error_of_proof(proof), "(none)") << bit;
  }
}

TEST_F(MutualProofTest, IsNotFooledByItsOwnProof) {
  EXPECT_NE(error_of_proof(proof_.request().proof), "(none)");
}

TEST_F(MutualProofTest, IsNotFooledByAnotherSessionsProof) {
  const MutualProof later(hello_, reply_, credentials_);
  EXPECT_NE(later.request().nonce, proof_.request().nonce);
  const auto recorded = targets_view().target_proof(credentials_.key());
  EXPECT_NE(error_of([&] { later.verify("talk", {recorded}); }), "(none)");
}

}  // namespace
}  // namespace rdmablk::initiator
