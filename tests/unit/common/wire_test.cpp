#include "common/protocol/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::protocol {
namespace {

using testing::Each;

std::array<std::byte, 4> bytes_of(unsigned a, unsigned b, unsigned c, unsigned d) {
  return {std::byte(a), std::byte(b), std::byte(c), std::byte(d)};
}

TEST(WireWriter, IsLittleEndian) {
  std::array<std::byte, 4> buffer{};
  WireWriter writer(buffer);
  writer.put(std::uint32_t{0x04030201});
  EXPECT_TRUE(writer.ok());
  EXPECT_EQ(writer.size(), 4U);
  EXPECT_EQ(buffer, bytes_of(1, 2, 3, 4));
}

TEST(WireWriter, WritesNothingThatDoesNotFit) {
  std::array<std::byte, 4> buffer{};
  WireWriter writer{std::span(buffer).first(3)};
  writer.put(std::uint16_t{0x0201});
  writer.put(std::uint16_t{0x0403});
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.size(), 2U);
  EXPECT_EQ(buffer, bytes_of(1, 2, 0, 0));
}

TEST(WireWriter, StaysFailedWhenASmallerFieldWouldFit) {
  std::array<std::byte, 4> buffer{};
  WireWriter writer{std::span(buffer).first(3)};
  writer.put(std::uint32_t{1});
  writer.put(std::uint8_t{1});
  EXPECT_FALSE(writer.ok());
  EXPECT_EQ(writer.size(), 0U);
  EXPECT_EQ(buffer, bytes_of(0, 0, 0, 0));
}

TEST(WireWriter, PadsTextWithZeroes) {
  std::array<std::byte, 4> buffer = bytes_of(9, 9, 9, 9);
  WireWriter writer(buffer);
  writer.put_text("ab", 4);
  EXPECT_TRUE(writer.ok());
  EXPECT_EQ(buffer, bytes_of('a', 'b', 0, 0));
}

TEST(WireWriter, RefusesTextThatIsTooLong) {
  std::array<std::byte, 8> buffer{};
  WireWriter writer(buffer);
  writer.put_text("abcde", 4);
  EXPECT_FALSE(writer.ok());
  EXPECT_THAT(buffer, Each(std::byte{0}));
}

TEST(WireWriter, DoesNotPadBehindItsEnd) {
  std::array<std::byte, 4> buffer = bytes_of(9, 9, 9, 9);
  WireWriter writer{std::span(buffer).first(2)};
  writer.pad(3);
  EXPECT_FALSE(writer.ok());
  EXPECT_THAT(buffer, Each(std::byte{9}));
}

TEST(WireReader, IsLittleEndian) {
  const auto buffer = bytes_of(1, 2, 3, 4);
  WireReader reader(buffer);
  std::uint16_t first = 0;
  std::uint8_t second = 0;
  reader.get(first);
  reader.get(second);
  EXPECT_EQ(first, 0x0201);
  EXPECT_EQ(second, 3);
  EXPECT_EQ(reader.rest().size(), 1U);
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, GivesZeroesBehindItsEnd) {
  const auto buffer = bytes_of(1, 2, 3, 4);
  WireReader reader(buffer);
  std::uint64_t value = 77;
  reader.get(value);
  EXPECT_EQ(value, 0U);
  EXPECT_FALSE(reader.ok());
  std::uint8_t one = 77;
  reader.get(one);  // would fit, but what it means is not known any more
  EXPECT_EQ(one, 0U);
  EXPECT_FALSE(reader.ok());
}

TEST(WireReader, EndsTextAtItsFirstZeroOrItsField) {
  const auto buffer = bytes_of('a', 0, 'c', 'd');
  std::string text = "old";
  WireReader(buffer).get_text(text, 4);
  EXPECT_EQ(text, "a");
  WireReader full{std::span(buffer).subspan(2)};
  full.get_text(text, 2);
  EXPECT_EQ(text, "cd");
  EXPECT_TRUE(full.ok());
}

TEST(WireReader, GivesNoTextBehindItsEnd) {
  const auto buffer = bytes_of('a', 'b', 'c', 'd');
  WireReader reader(buffer);
  std::string text = "old";
  reader.get_text(text, 5);
  EXPECT_EQ(text, "");
  EXPECT_FALSE(reader.ok());
}

TEST(WireReader, SkipsNoFurtherThanItsEnd) {
  const auto buffer = bytes_of(1, 2, 3, 4);
  WireReader reader(buffer);
  reader.skip(4);
  EXPECT_TRUE(reader.ok());
  reader.skip(SIZE_MAX);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace rdmablk::protocol
