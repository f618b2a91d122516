#include "initiator/copy/copy_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace rdmablk::copy {
namespace {

using protocol::Extent;
using testing::ElementsAre;

std::vector<Piece> pieces_of(CopyPlan::Options options) {
  CopyPlan plan(std::move(options));
  std::vector<Piece> pieces;
  while (const auto piece = plan.next()) pieces.push_back(*piece);
  return pieces;
}

TEST(CopyPlan, CutsDataIntoBlocks) {
  EXPECT_THAT(pieces_of({.length = 10, .block_size = 4, .hole_size = 8, .map = {}}),
              ElementsAre(Piece{0, 4, false}, Piece{4, 4, false}, Piece{8, 2, false}));
  EXPECT_TRUE(pieces_of({.length = 0, .block_size = 4, .hole_size = 8, .map = {}}).empty());
}

TEST(CopyPlan, KeepsBlocksAlignedBehindHoles) {
  const auto map = [](std::uint64_t offset, std::uint64_t length) {
    EXPECT_EQ(offset, 0U);
    EXPECT_EQ(length, 20U);
    return std::vector<Extent>{{5, true}, {15, false}};
  };
  EXPECT_THAT(
      pieces_of({.length = 20, .block_size = 8, .hole_size = 16, .map = map}),
      ElementsAre(Piece{0, 5, true}, Piece{5, 3, false}, Piece{8, 8, false}, Piece{16, 4, false}));
}

TEST(CopyPlan, CutsLargeHoles) {
  EXPECT_THAT(pieces_of({.length = 20, .block_size = 4, .hole_size = 16, .map = all_holes}),
              ElementsAre(Piece{0, 16, true}, Piece{16, 4, true}));
}

TEST(CopyPlan, AsksForAMapOfPartOfALargeFileAtATime) {
  constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30U;
  std::vector<std::uint64_t> asked;
  const auto map = [&](std::uint64_t offset, std::uint64_t length) {
    asked.push_back(offset);
    EXPECT_LE(length, kGibibyte);
    return std::vector<Extent>{{length, true}};
  };
  const auto pieces = pieces_of(
      {.length = 3 * kGibibyte + 1, .block_size = 4096, .hole_size = kGibibyte, .map = map});
  EXPECT_THAT(asked, ElementsAre(0, kGibibyte, 2 * kGibibyte, 3 * kGibibyte));
  EXPECT_EQ(pieces.back(), (Piece{3 * kGibibyte, 1, true}));
}

TEST(CopyPlan, EndsWhenItIsTold) {
  CopyPlan plan({.length = CopyPlan::kUnknown, .block_size = 4, .hole_size = 4, .map = {}});
  EXPECT_EQ(plan.next(), (Piece{0, 4, false}));
  EXPECT_EQ(plan.next(), (Piece{4, 4, false}));
  plan.finish();
  EXPECT_EQ(plan.next(), std::nullopt);
  EXPECT_FALSE(plan.is_stopped());
  plan.stop();
  EXPECT_TRUE(plan.is_stopped());
}

TEST(CopyPlan, PassesOnThatTheMapFails) {
  const auto map = [](std::uint64_t, std::uint64_t) -> std::vector<Extent> {
    throw std::runtime_error("no map");
  };
  CopyPlan plan({.length = 4, .block_size = 4, .hole_size = 4, .map = map});
  EXPECT_THROW(plan.next(), std::runtime_error);
}

}  // namespace
}  // namespace rdmablk::copy
