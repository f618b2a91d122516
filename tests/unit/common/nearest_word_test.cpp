#include "common/nearest_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rdmablk {
namespace {

using testing::Optional;

const std::vector<std::string> kKnown{"slot_size", "slots", "slot_memory", "auth", "listen"};

TEST(NearestWord, FindsWhatWasMeant) {
  EXPECT_THAT(nearest_word("slot_sise", kKnown), Optional(std::string("slot_size")));
  EXPECT_THAT(nearest_word("slot-size", kKnown), Optional(std::string("slot_size")));
  EXPECT_THAT(nearest_word("lsiten", kKnown), Optional(std::string("listen")));
  EXPECT_THAT(nearest_word("slot", kKnown), Optional(std::string("slots")));
  EXPECT_THAT(nearest_word("auht", kKnown), Optional(std::string("auth")));
}

TEST(NearestWord, SaysNothingWhenNothingIsNear) {
  EXPECT_FALSE(nearest_word("colour", kKnown));
  EXPECT_FALSE(nearest_word("", kKnown));
  EXPECT_FALSE(nearest_word("a", kKnown));
  EXPECT_FALSE(nearest_word(std::string(100'000, 'a'), kKnown));
  EXPECT_FALSE(nearest_word("slots", {}));
}

TEST(NearestWord, IsToldAsAQuestion) {
  EXPECT_EQ(suggestion("slto_size", kKnown), "; did you mean 'slot_size'?");
  EXPECT_EQ(suggestion("colour", kKnown), "");
}

}  // namespace
}  // namespace rdmablk
