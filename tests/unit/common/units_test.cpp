#include "common/units.h"

#include <gtest/gtest.h>

namespace rdmablk {
namespace {

TEST(ParseSize, TakesBytesAndSuffixesOfEitherCase) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("512"), 512U);
  EXPECT_EQ(parse_size("4k"), 4096U);
  EXPECT_EQ(parse_size("4K"), 4096U);
  EXPECT_EQ(parse_size("3m"), 3U << 20U);
  EXPECT_EQ(parse_size("2G"), std::uint64_t{2} << 30U);
  EXPECT_EQ(parse_size("1T"), std::uint64_t{1} << 40U);
}

TEST(ParseSize, TakesTheLargestThatFits) {
  EXPECT_EQ(parse_size("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_size("18014398509481983K"), UINT64_MAX - 1023);
  EXPECT_EQ(parse_size("16777215T"), std::uint64_t{16777215} << 40U);
}

TEST(ParseSize, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parse_size("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_size("18014398509481984K"), std::nullopt);
  EXPECT_EQ(parse_size("16777216T"), std::nullopt);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "k", "-1", "+1", " 1", "1 ", "1.5G", "1KB", "1KiB", "1P", "0x10",
                           "1e3", "4kk", "--", "1\n"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(ParseNumber, ObeysItsMaximum) {
  EXPECT_EQ(parse_number("65535", 65535), 65535U);
  EXPECT_EQ(parse_number("65536", 65535), std::nullopt);
  EXPECT_EQ(parse_number("0", 0), 0U);
  EXPECT_EQ(parse_number("007", 10), 7U);
  for (const char* text : {"", "-1", "+1", "1k", " 1", "1 ", "18446744073709551616"}) {
    EXPECT_EQ(parse_number(text, UINT64_MAX), std::nullopt) << "'" << text << "'";
  }
}

TEST(FormatSize, ChoosesTheLargestUnitThatIsExact) {
  EXPECT_EQ(format_size(0), "0 bytes");
  EXPECT_EQ(format_size(513), "513 bytes");
  EXPECT_EQ(format_size(1024), "1 KiB");
  EXPECT_EQ(format_size(256U << 20U), "256 MiB");
  EXPECT_EQ(format_size(std::uint64_t{3} << 29U), "1.5 GiB");
  EXPECT_EQ(format_size((1U << 20U) + 1), "1048577 bytes");
  EXPECT_EQ(format_size((std::uint64_t{6365184} << 10U) + 256), "6365184.25 KiB");
  EXPECT_EQ(format_size(std::uint64_t{1} << 40U), "1 TiB");
}

TEST(ParseSeconds, TakesWholeOnesAndThousandths) {
  using std::chrono::milliseconds;
  EXPECT_EQ(parse_seconds("0", 10), milliseconds(0));
  EXPECT_EQ(parse_seconds("10", 10), milliseconds(10000));
  EXPECT_EQ(parse_seconds("0.5", 10), milliseconds(500));
  EXPECT_EQ(parse_seconds("3.25", 10), milliseconds(3250));
  EXPECT_EQ(parse_seconds("3.005", 10), milliseconds(3005));
}

TEST(ParseSeconds, RefusesEverythingElse) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "1.0001", "1.-1", "1.+1", " 1",
                           "1s", "10.001", "11", "99999999999999999999", "1.5.5", "never"}) {
    EXPECT_EQ(parse_seconds(text, 10), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace rdmablk
