#include "target/export_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace rdmablk::target {
namespace {

using ::testing::ElementsAre;

/// Exports are told apart by where they are, and not looked at.
class ExportTurnsTest : public ::testing::Test {
 protected:
  const Export& one() const { return reinterpret_cast<const Export&>(places_[0]); }
  const Export& other() const { return reinterpret_cast<const Export&>(places_[1]); }

  void take(const Export& exported, const std::string& name) {
    turns_.take(exported, [this, name] { begun_.push_back(name); });
  }

  std::array<char, 2> places_{};
  ExportTurns turns_;
  std::vector<std::string> begun_;
};

TEST_F(ExportTurnsTest, BeginAtOnceWhenNobodyHasOne) {
  take(one(), "first");
  take(other(), "of another export");
  EXPECT_THAT(begun_, ElementsAre("first", "of another export"));
}

TEST_F(ExportTurnsTest, FollowOneAnotherInOrder) {
  take(one(), "first");
  take(one(), "second");
  take(one(), "third");
  EXPECT_THAT(begun_, ElementsAre("first"));
  turns_.end(one());
  EXPECT_THAT(begun_, ElementsAre("first", "second"));
  turns_.end(one());
  EXPECT_THAT(begun_, ElementsAre("first", "second", "third"));
  turns_.end(one());
  take(one(), "fourth");
  EXPECT_THAT(begun_, ElementsAre("first", "second", "third", "fourth"));
}

TEST_F(ExportTurnsTest, MayEndFromWithin) {
  turns_.take(one(), [this] {
    begun_.emplace_back("brief");
    turns_.end(one());
  });
  take(one(), "next");
  EXPECT_THAT(begun_, ElementsAre("brief", "next"));
}

TEST_F(ExportTurnsTest, MayEndFromWithinWhenOthersWait) {
  take(one(), "first");
  turns_.take(one(), [this] {
    begun_.emplace_back("brief");
    turns_.end(one());
  });
  take(one(), "last");
  turns_.end(one());
  EXPECT_THAT(begun_, ElementsAre("first", "brief", "last"));
}

}  // namespace
}  // namespace rdmablk::target
