#include "target/edition.h"

#include <gtest/gtest.h>

#include <optional>

namespace rdmablk::target {
namespace {

class EditionTest : public ::testing::Test {
 protected:
  EditionTest() { publish(4096); }

  void publish(std::uint64_t size) {
    auto edition = std::make_unique<Edition>();
    edition->number = ++last_;
    edition->size = size;
    editions_.publish(std::move(edition));
  }

  std::uint64_t last_ = 0;
  Editions editions_;
};

TEST_F(EditionTest, IsKeptAsLongAsSomebodyKnowsIt) {
  int told = 0;
  editions_.on_unused([&] { ++told; });
  std::optional<EditionUse> use(editions_);
  publish(512);
  EXPECT_TRUE(editions_.take_unused().empty());
  EXPECT_TRUE(editions_.has_larger());
  use.reset();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(editions_.take_unused().size(), 1U);
  EXPECT_FALSE(editions_.has_larger());
  EXPECT_EQ(editions_.current().size, 512U);
}

TEST_F(EditionTest, BothAreKeptUntilItIsAcknowledged) {
  EditionUse use(editions_);
  publish(512);
  EXPECT_FALSE(use.is_current());
  EXPECT_EQ(use.known_size(), 4096U);
  use.announce();
  EXPECT_TRUE(use.is_current());
  EXPECT_EQ(use.known_size(), 4096U) << "until it says that it is through";
  publish(8192);
  EXPECT_TRUE(editions_.take_unused().empty()) << "one is known, one was told of";
  use.acknowledge();
  EXPECT_EQ(use.known_size(), 512U);
  EXPECT_FALSE(use.is_current());
  EXPECT_EQ(editions_.take_unused().size(), 1U);
  use.announce();
  use.acknowledge();
  EXPECT_EQ(use.known_size(), 8192U);
}

TEST_F(EditionTest, IsFoundByWhoKnowsItOrWasTold) {
  EditionUse use(editions_);
  const EditionUse other(editions_);
  publish(512);
  EXPECT_EQ(use.find(1)->size, 4096U);
  EXPECT_EQ(use.find(2), nullptr) << "it was not told";
  use.announce();
  EXPECT_EQ(use.find(1)->size, 4096U);
  EXPECT_EQ(use.find(2)->size, 512U);
  use.acknowledge();
  EXPECT_EQ(use.find(1), nullptr) << "it is through with it, though another is not";
  EXPECT_EQ(other.find(1)->size, 4096U);
  EXPECT_EQ(editions_.find(1)->size, 4096U);
  EXPECT_EQ(editions_.find(3), nullptr);
}

TEST_F(EditionTest, LosesItsTablesOnADevice) {
  ibv_context one{};
  ibv_context other{};
  publish(512);
  for (const auto& edition : editions_.all()) {
    edition->tables[&one];
    edition->tables[&other];
  }
  EXPECT_EQ(editions_.take_tables(&one).size(), 2U);
  EXPECT_TRUE(editions_.take_tables(&one).empty());
  for (const auto& edition : editions_.all()) {
    EXPECT_FALSE(edition->tables.contains(&one));
    EXPECT_TRUE(edition->tables.contains(&other));
  }
}

TEST_F(EditionTest, WhoGoesBeforeSayingSoLeavesBoth) {
  int told = 0;
  std::optional<EditionUse> use(editions_);
  publish(512);
  use->announce();
  publish(256);
  editions_.on_unused([&] { ++told; });
  use.reset();
  EXPECT_EQ(told, 2);
  EXPECT_EQ(editions_.take_unused().size(), 2U);
  EXPECT_FALSE(editions_.has_larger());
}

TEST_F(EditionTest, ALargerOneMayBeUsedFromWhenItIsToldOf) {
  EditionUse use(editions_);
  publish(8192);
  EXPECT_FALSE(editions_.has_larger());
  EXPECT_EQ(use.known_size(), 4096U);
  use.announce();
  EXPECT_EQ(use.known_size(), 8192U);
}

TEST_F(EditionTest, TheCurrentOneStaysThoughNobodyUsesIt) {
  { const EditionUse use(editions_); }
  EXPECT_TRUE(editions_.take_unused().empty());
  publish(8192);
  publish(512);
  EXPECT_EQ(editions_.take_unused().size(), 2U);
  EXPECT_EQ(editions_.current().size, 512U);
}

}  // namespace
}  // namespace rdmablk::target
