#include "fuse/hole_search.h"

#include <gtest/gtest.h>

#include <array>

namespace rdmablk::fuse {
namespace {

constexpr std::array<protocol::Extent, 3> kMap{
    {{.length = 100}, {.length = 50, .is_hole = true}, {.length = 10}}};

TEST(HoleSearch, FindsDataAndHolesWhereTheyBegin) {
  EXPECT_TRUE(search(kMap, 1000, false).is_found);
  EXPECT_EQ(search(kMap, 1000, false).offset, 1000U);
  EXPECT_TRUE(search(kMap, 1000, true).is_found);
  EXPECT_EQ(search(kMap, 1000, true).offset, 1100U);
  const auto tail = std::span(kMap).subspan(1);
  EXPECT_EQ(search(tail, 1100, true).offset, 1100U);
  EXPECT_EQ(search(tail, 1100, false).offset, 1150U);
}

TEST(HoleSearch, SaysWhereToGoOn) {
  const auto head = std::span(kMap).first(1);
  EXPECT_FALSE(search(head, 1000, true).is_found);
  EXPECT_EQ(search(head, 1000, true).offset, 1100U);
}

}  // namespace
}  // namespace rdmablk::fuse
