#include "initiator/chunk_map.h"

#include <gtest/gtest.h>

namespace rdmablk::initiator {
namespace {

TEST(ChunkMap, FindsTheChunkOfAnOffset) {
  const ChunkMap map(4096, {{0x10000, 1}, {0x90000, 2}, {0x50000, 3}});
  const auto expect = [&map](std::uint64_t offset, std::uint64_t address, std::uint32_t rkey,
                             std::uint64_t contiguous) {
    const ChunkMap::Place place = map.locate(offset);
    EXPECT_EQ(place.address, address) << offset;
    EXPECT_EQ(place.rkey, rkey) << offset;
    EXPECT_EQ(place.contiguous, contiguous) << offset;
  };
  expect(0, 0x10000, 1, 4096);
  expect(1, 0x10001, 1, 4095);
  expect(4095, 0x10fff, 1, 1);
  expect(4096, 0x90000, 2, 4096);
  expect(3 * 4096 - 1, 0x50fff, 3, 1);
}

TEST(ChunkMap, FindsItInLargeChunks) {
  constexpr std::uint64_t kChunk = std::uint64_t{1} << 40U;
  const ChunkMap map(kChunk, {{0, 1}, {kChunk * 8, 2}});
  const ChunkMap::Place place = map.locate(kChunk + 5);
  EXPECT_EQ(place.address, kChunk * 8 + 5);
  EXPECT_EQ(place.rkey, 2U);
  EXPECT_EQ(place.contiguous, kChunk - 5);
}

TEST(ChunkMap, CountsTheLastChunkToo) {
  EXPECT_EQ(ChunkMap::count(512, 4096), 1U);
  EXPECT_EQ(ChunkMap::count(4096, 4096), 1U);
  EXPECT_EQ(ChunkMap::count(4096 + 512, 4096), 2U);
  EXPECT_EQ(ChunkMap::count(std::uint64_t{1} << 40U, 1U << 30U), 1024U);
}

TEST(ChunkMap, CountsNothingForWhatCannotBe) {
  EXPECT_EQ(ChunkMap::count(0, 4096), 0U);
  EXPECT_EQ(ChunkMap::count(4096, 0), 0U);
  EXPECT_EQ(ChunkMap::count(4096, 2048), 0U);
  EXPECT_EQ(ChunkMap::count(4096, 4097), 0U);
  EXPECT_EQ(ChunkMap::count(4096, 12288), 0U);
}

TEST(ChunkMap, CountsNoMoreThanTheMost) {
  EXPECT_EQ(ChunkMap::count(ChunkMap::kMaxChunks * 4096, 4096), ChunkMap::kMaxChunks);
  EXPECT_EQ(ChunkMap::count(ChunkMap::kMaxChunks * 4096 + 1, 4096), 0U);
  EXPECT_EQ(ChunkMap::count(UINT64_MAX, 4096), 0U);
  EXPECT_EQ(ChunkMap::count(UINT64_MAX, std::uint64_t{1} << 63U), 2U);
}

}  // namespace
}  // namespace rdmablk::initiator
