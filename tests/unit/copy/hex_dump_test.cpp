#include "initiator/copy/hex_dump.h"

#include <gtest/gtest.h>

#include <string_view>

namespace rdmablk::copy {
namespace {

std::string dump(std::string_view text, std::uint64_t offset = 0, bool squeezes = true,
                 std::size_t at_a_time = 1000) {
  HexDump dump(offset, squeezes);
  std::string result;
  for (std::size_t at = 0; at < text.size(); at += at_a_time) {
    result += dump.add(std::as_bytes(std::span(text.substr(at, at_a_time))));
  }
  return result + dump.finish();
}

TEST(HexDump, ShowsBytesAndCharacters) {
  EXPECT_EQ(dump("0123456789abcdef"),
            "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|\n"
            "00000010\n");
}

TEST(HexDump, AlignsALineThatIsNotFull) {
  EXPECT_EQ(dump(std::string_view("a\n\x7f\xff ~\0z9", 9), 0x1000000000U),
            "1000000000  61 0a 7f ff 20 7e 00 7a  39                       |a... ~.z9|\n"
            "1000000009\n");
}

TEST(HexDump, SqueezesLinesThatRepeat) {
  const std::string zeroes(64, '\0');
  EXPECT_EQ(dump(zeroes + "x"),
            "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
            "*\n"
            "00000040  78                                                |x|\n"
            "00000041\n");
  EXPECT_EQ(dump(zeroes),
            "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
            "*\n"
            "00000040\n");
}

TEST(HexDump, ShowsThemAllWhenToldTo) {
  const std::string text = dump(std::string(48, 'a'), 0, false);
  EXPECT_EQ(text.find('*'), std::string::npos);
  EXPECT_NE(text.find("\n00000020  61"), std::string::npos);
}

TEST(HexDump, IsTheSameInPieces) {
  std::string text(100, 'a');
  text += std::string(50, '\0') + "end";
  for (const std::size_t size : {1U, 3U, 16U, 17U}) {
    EXPECT_EQ(dump(text, 0, true, size), dump(text)) << size;
  }
}

TEST(HexDump, IsEmptyForNothing) {
  EXPECT_EQ(dump(""), "");
}

}  // namespace
}  // namespace rdmablk::copy
