#include "common/protocol/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::protocol {
namespace {

Features parse(std::string_view text) {
  return parse_features("--mask-features", text);
}

TEST(Features, AreASet) {
  const Features peer = Features::from_bits(0x8001);
  EXPECT_TRUE(peer.has(Feature::resize));
  EXPECT_EQ(peer.common_with(kKnownFeatures), Features{Feature::resize});
  EXPECT_EQ(peer.without({Feature::resize}).bits(), 0x8000U);
  EXPECT_FALSE(Features{}.has(Feature::resize));
}

TEST(Features, ArePrinted) {
  EXPECT_EQ(Features{}.text(), "none");
  EXPECT_EQ(Features{Feature::resize}.text(), "resize");
  EXPECT_EQ(Features::from_bits(0x8001).text(), "resize,0x8000");
  EXPECT_EQ(kKnownFeatures.text(), "resize,counters,paths");
}

TEST(Features, AreRead) {
  EXPECT_EQ(parse("resize"), Features{Feature::resize});
  EXPECT_EQ(parse("0x8000,resize").bits(), 0x8001U);
  EXPECT_EQ(parse("10").bits(), 10U);
  EXPECT_EQ(parse("0").bits(), 0U);
  EXPECT_EQ(kKnownFeatures.without(parse("all")), Features{});
}

TEST(Features, AreReadAsTheyArePrinted) {
  for (const std::uint64_t bits : {0x1ULL, 0x8001ULL, 0xFFFFFFFFFFFFFFFFULL, 0x100ULL}) {
    EXPECT_EQ(parse(Features::from_bits(bits).text()).bits(), bits);
  }
}

TEST(Features, AreRefusedWhenTheyMakeNoSense) {
  for (const auto* const text : {"", "resise", "resize,", ",", "0x", "-1", "0x1FFFFFFFFFFFFFFFF",
                                 "18446744073709551616", "Resize", "1 "}) {
    EXPECT_THROW(parse(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace rdmablk::protocol
