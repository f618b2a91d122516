#include "initiator/copy/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/error.h"
#include "initiator/copy/zero_runs.h"

namespace rdmablk::copy {
namespace {

using testing::ElementsAre;

std::vector<std::byte> bytes_of(const Pattern& pattern, std::uint64_t position, std::size_t count) {
  std::vector<std::byte> bytes(count);
  pattern.fill(bytes, position);
  return bytes;
}

TEST(Pattern, RepeatsFromWhereverItIsAsked) {
  const Pattern pattern = Pattern::of({std::byte{1}, std::byte{2}, std::byte{3}});
  EXPECT_THAT(bytes_of(pattern, 0, 4),
              ElementsAre(std::byte{1}, std::byte{2}, std::byte{3}, std::byte{1}));
  EXPECT_THAT(bytes_of(pattern, 5, 3), ElementsAre(std::byte{3}, std::byte{1}, std::byte{2}));
}

TEST(Pattern, OfOneByteIsThatByte) {
  EXPECT_THAT(bytes_of(Pattern::of({std::byte{7}}), 99, 2),
              ElementsAre(std::byte{7}, std::byte{7}));
}

TEST(Pattern, RandomIsTheSameForASeedAndAnotherForAnother) {
  EXPECT_EQ(bytes_of(Pattern::random(1), 0, 64), bytes_of(Pattern::random(1), 0, 64));
  EXPECT_NE(bytes_of(Pattern::random(1), 0, 64), bytes_of(Pattern::random(2), 0, 64));
  EXPECT_FALSE(is_zero(bytes_of(Pattern::random(0), 0, 8)));
}

/// Whatever the pieces in which it is asked for.
TEST(Pattern, IsTheSameInPieces) {
  std::mt19937 random(7);
  for (const Pattern& pattern :
       {Pattern::random(3), Pattern::of({std::byte{1}, std::byte{2}, std::byte{3}})}) {
    const auto whole = bytes_of(pattern, 0, 1000);
    for (int i = 0; i < 100; ++i) {
      const std::size_t from = random() % 1000;
      const std::size_t count = random() % (1000 - from) + 1;
      const auto part = bytes_of(pattern, from, count);
      EXPECT_TRUE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(from)))
          << count << " at " << from;
    }
  }
}

TEST(ReadHex, TakesWhatPeopleWrite) {
  const auto expected = ElementsAre(std::byte{0xde}, std::byte{0xad});
  EXPECT_THAT(read_hex("--pattern", "dead"), expected);
  EXPECT_THAT(read_hex("--pattern", "0xDEAD"), expected);
  EXPECT_THAT(read_hex("--pattern", "de ad"), expected);
}

TEST(ReadHex, RefusesAllElse) {
  for (const char* text : {"", "0x", "d", "dea", "dexd", "xx", "-1", "0x0x00"}) {
    EXPECT_THROW(read_hex("--pattern", text), UsageError) << text;
  }
  EXPECT_THROW(read_hex("--pattern", std::string(2 * 4096 + 2, 'a')), UsageError);
  EXPECT_EQ(read_hex("--pattern", std::string(2 * 4096, 'a')).size(), 4096U);
}

}  // namespace
}  // namespace rdmablk::copy
