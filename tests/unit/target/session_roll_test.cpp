#include "target/session_roll.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr protocol::InstanceId kOne{std::byte{1}};
constexpr protocol::InstanceId kOther{std::byte{2}};

class SessionRollTest : public ::testing::Test {
 protected:
  void connect(std::uint32_t session, const std::string& host, milliseconds age = milliseconds(0)) {
    roll_.add_handshake(session, host, now_ - age);
  }

  void enter(std::uint32_t session, const SessionPeer& peer) {
    connect(session, peer.host());
    roll_.enter(session, peer);
  }

  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  SessionRoll roll_;
};

TEST_F(SessionRollTest, CountsThoseWhoAreIn) {
  connect(1, "a");
  enter(2, {"a:1", {}, {}});
  EXPECT_EQ(roll_.size(), 1U);
  EXPECT_EQ(roll_.handshakes(), 1U);
  EXPECT_FALSE(roll_.is_in(1));
  EXPECT_TRUE(roll_.is_in(2));
  roll_.enter(1, {"a:2", {}, {}});
  EXPECT_EQ(roll_.size(), 2U);
  EXPECT_EQ(roll_.handshakes(), 0U);
}

TEST_F(SessionRollTest, CountsEachAccount) {
  enter(1, {"a:1", {}, {}});
  enter(2, {"a:2", {}, {}});
  enter(3, {"b:1", {}, {}});
  enter(4, {"a:3", "client", {}});
  EXPECT_EQ(roll_.size_of_account({"a:9", {}, {}}), 2U);
  EXPECT_EQ(roll_.size_of_account({"b:9", "client", {}}), 1U);
  EXPECT_EQ(roll_.size_of_account({"c:9", {}, {}}), 0U);
  roll_.end(1);
  EXPECT_EQ(roll_.size_of_account({"a:9", {}, {}}), 1U);
}

TEST_F(SessionRollTest, WhoReadsWhyItIsOutIsAHandshakeAgain) {
  enter(1, {"a:1", {}, {}});
  roll_.leave(1);
  EXPECT_EQ(roll_.size(), 0U);
  EXPECT_EQ(roll_.size_of_account({"a:1", {}, {}}), 0U);
  EXPECT_EQ(roll_.handshakes(), 1U);
  roll_.end(1);
  EXPECT_EQ(roll_.size(), 0U);
  EXPECT_EQ(roll_.handshakes(), 0U);
}

TEST_F(SessionRollTest, WhoNeverGotInEndsOnce) {
  connect(1, "a");
  roll_.leave(1);
  EXPECT_EQ(roll_.handshakes(), 1U);
  roll_.end(1);
  roll_.enter(1, {"a:1", {}, {}});
  roll_.remove(1);
  roll_.remove(1);
  EXPECT_EQ(roll_.size(), 0U);
  EXPECT_EQ(roll_.handshakes(), 0U);
}

TEST_F(SessionRollTest, IsResumedUntilNothingIsLeft) {
  const SessionPeer peer{"a:1", "client", kOne};
  enter(1, peer);
  enter(2, {"a:2", "client", kOther});
  enter(3, {"a:3", "mallory", kOne});
  EXPECT_THAT(roll_.resumed_by(peer), ElementsAre(1));
  roll_.end(1);
  enter(4, peer);
  EXPECT_THAT(roll_.resumed_by(peer), ElementsAre(1, 4));
  roll_.remove(1);
  roll_.remove(4);
  EXPECT_THAT(roll_.resumed_by(peer), IsEmpty());
}

TEST_F(SessionRollTest, WhoHasNoInstanceResumesNobody) {
  enter(1, {"a:1", {}, {}});
  EXPECT_THAT(roll_.resumed_by({"a:1", {}, {}}), IsEmpty());
}

TEST_F(SessionRollTest, HandshakesGiveWayAndSessionsDoNot) {
  enter(1, {"a:1", {}, {}});
  connect(2, "a", milliseconds(1));
  connect(3, "a", milliseconds(2));
  EXPECT_EQ(roll_.who_gives_way("b", milliseconds(1000), now_), 3U);
  roll_.enter(2, {"a:2", {}, {}});
  roll_.end(3);
  EXPECT_EQ(roll_.who_gives_way("b", milliseconds(1000), now_), 0U);
}

}  // namespace
}  // namespace rdmablk::target
