#include "initiator/copy/zero_runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace rdmablk::copy {
namespace {

std::vector<std::byte> zeroes(std::size_t size) {
  return std::vector<std::byte>(size);
}

TEST(IsZero, SeesOneBitWhereverItIs) {
  for (const std::size_t size : {1U, 15U, 16U, 17U, 31U, 32U, 33U, 4096U}) {
    auto bytes = zeroes(size);
    EXPECT_TRUE(is_zero(bytes)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = std::byte{0x80};
      EXPECT_FALSE(is_zero(bytes)) << at << " of " << size;
      bytes[at] = std::byte{0};
    }
  }
  EXPECT_TRUE(is_zero({}));
}

TEST(NextRun, CoversAllThatIsAlike) {
  auto bytes = zeroes(64);
  EXPECT_EQ(next_run(bytes, 16).length, 64U);
  EXPECT_TRUE(next_run(bytes, 16).is_zero);
  bytes[40] = std::byte{1};
  EXPECT_EQ(next_run(bytes, 16).length, 32U);
  const copy::Run data = next_run(std::span(bytes).subspan(32), 16);
  EXPECT_EQ(data.length, 16U);
  EXPECT_FALSE(data.is_zero);
}

TEST(NextRun, TakesAUnitForDataWhenOneByteIs) {
  auto bytes = zeroes(20);
  bytes[19] = std::byte{1};  // in the last unit, which is shorter
  EXPECT_EQ(next_run(bytes, 16).length, 16U);
  const copy::Run rest = next_run(std::span(bytes).subspan(16), 16);
  EXPECT_EQ(rest.length, 4U);
  EXPECT_FALSE(rest.is_zero);
}

TEST(NextRun, TakesLessThanAUnit) {
  EXPECT_EQ(next_run(zeroes(5), 4096).length, 5U);
}

}  // namespace
}  // namespace rdmablk::copy
