#include "target/handshakes.h"

#include <gtest/gtest.h>

#include <vector>

namespace rdmablk::target {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReticence{1000};

class HandshakesTest : public ::testing::Test {
 protected:
  void add(const std::string& host, milliseconds age) { handshakes_.push_back({host, now_ - age}); }

  std::optional<std::size_t> who_gives_way_to(const std::string& newcomer) const {
    return who_gives_way(handshakes_, newcomer, kReticence, now_);
  }

  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
  std::vector<Handshake> handshakes_;
};

TEST_F(HandshakesTest, WhoHasTheMostLosesItsOldestAtOnce) {
  add("honest", milliseconds(900));
  add("hostile", milliseconds(2));
  add("hostile", milliseconds(3));
  add("hostile", milliseconds(1));
  EXPECT_EQ(who_gives_way_to("newcomer"), 2U);
  EXPECT_EQ(who_gives_way_to("honest"), 2U);
}

TEST_F(HandshakesTest, WhoHasTheMostDisplacesItselfAlone) {
  add("honest", milliseconds(5000));
  add("hostile", milliseconds(1));
  add("hostile", milliseconds(2));
  EXPECT_EQ(who_gives_way_to("hostile"), std::nullopt);
  add("hostile", milliseconds(1001));
  EXPECT_EQ(who_gives_way_to("hostile"), 3U);
}

TEST_F(HandshakesTest, AmongEqualsTheOldestGivesWayAfterAWhile) {
  add("one", milliseconds(800));
  add("two", milliseconds(900));
  EXPECT_EQ(who_gives_way_to("newcomer"), std::nullopt);
  add("three", milliseconds(1001));
  EXPECT_EQ(who_gives_way_to("newcomer"), 2U);
  EXPECT_EQ(who_gives_way_to("one"), std::nullopt) << "its own is not old enough";
}

TEST_F(HandshakesTest, NobodyGivesWayWhereNobodyIs) {
  EXPECT_EQ(who_gives_way_to("newcomer"), std::nullopt);
}

}  // namespace
}  // namespace rdmablk::target
