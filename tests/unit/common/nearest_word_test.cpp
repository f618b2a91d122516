#include "common/nearest_word.h"

#include <gtest/gtest.h>

#include <array>

namespace rdmablk {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKnown{"give_up"sv, "fail_fast"sv, "ro"sv, "rw"sv, "uid"sv, "gid"sv};

TEST(NearestWord, ForgivesASlip) {
  EXPECT_EQ(nearest_word("give-up", kKnown), "give_up");
  EXPECT_EQ(nearest_word("giveup", kKnown), "give_up");
  EXPECT_EQ(nearest_word("give_pu", kKnown), "give_up");
  EXPECT_EQ(nearest_word("fial_fats", kKnown), "fail_fast");
  EXPECT_EQ(nearest_word("ui", kKnown), "uid");
}

TEST(NearestWord, TakesTheNearer) {
  EXPECT_EQ(nearest_word("gidd", kKnown), "gid");
}

TEST(NearestWord, DoesNotGuess) {
  EXPECT_EQ(nearest_word("speed", kKnown), std::nullopt);
  EXPECT_EQ(nearest_word("", kKnown), std::nullopt);
  EXPECT_EQ(nearest_word("x", kKnown), std::nullopt);
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), kKnown), std::nullopt);
  EXPECT_EQ(nearest_word("ro", {}), std::nullopt);
}

TEST(NearestWord, MakesAQuestionOfIt) {
  EXPECT_EQ(suggestion("giveup", kKnown), "; do you mean 'give_up'?");
  EXPECT_EQ(suggestion("speed", kKnown), "");
}

}  // namespace
}  // namespace rdmablk
