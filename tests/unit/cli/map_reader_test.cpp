#include "initiator/cli/map_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "common/error.h"
#include "tests/unit/cli/scripted_image.h"

namespace rdmablk::cli {
namespace {

using initiator::Operation;
using initiator::Request;
using protocol::Extent;
using testing::ElementsAre;

constexpr std::uint64_t kSize = 1U << 20U;

int answer(Request& request, std::span<const Extent> extents) {
  std::copy(extents.begin(), extents.end(), reinterpret_cast<Extent*>(request.data));
  request.extents = static_cast<std::uint32_t>(extents.size());
  return 0;
}

TEST(MapReader, AsksForAllOfTheRange) {
  ScriptedImage image(kSize, [](Request& request, unsigned /*number*/) {
    EXPECT_EQ(request.operation, Operation::map);
    EXPECT_EQ(request.offset, 4096U);
    EXPECT_EQ(request.length, 8192U);
    EXPECT_EQ(request.extents, protocol::kMaxExtents);
    return answer(request, std::array{Extent{4096, true}, Extent{4096, false}});
  });
  EXPECT_THAT(MapReader(image).read(4096, 8192),
              ElementsAre(Extent{4096, true}, Extent{4096, false}));
}

TEST(MapReader, AsksOnWhereAnAnswerEndsAndJoinsWhatIsAlike) {
  ScriptedImage image(kSize, [](Request& request, unsigned number) {
    EXPECT_EQ(request.offset, std::uint64_t{number} * 1024);
    EXPECT_EQ(request.length, 4096 - std::uint64_t{number} * 1024);
    return answer(request, std::array{Extent{512, number == 3}, Extent{512, number == 3}});
  });
  EXPECT_THAT(MapReader(image).read(0, 4096), ElementsAre(Extent{3072, false}, Extent{1024, true}));
}

TEST(MapReader, TakesAFullAnswer) {
  ScriptedImage image(kSize, [](Request& request, unsigned number) {
    std::vector<Extent> extents(protocol::kMaxExtents);
    for (std::size_t i = 0; i < extents.size(); ++i) extents[i] = {1, (i + number) % 2 == 0};
    return answer(request, extents);
  });
  EXPECT_EQ(MapReader(image).read(0, protocol::kMaxExtents).size(), protocol::kMaxExtents);
}

TEST(MapReader, CutsWhatLiesBehindTheRange) {
  ScriptedImage image(kSize, [](Request& request, unsigned /*number*/) {
    return answer(request, std::array{Extent{UINT64_MAX, true}, Extent{UINT64_MAX, false}});
  });
  EXPECT_THAT(MapReader(image).read(512, 512), ElementsAre(Extent{512, true}));
}

TEST(MapReader, DoesNotAskForEverWhenThereIsNoAnswer) {
  ScriptedImage nothing(kSize,
                        [](Request& request, unsigned /*number*/) { return answer(request, {}); });
  EXPECT_THROW(MapReader(nothing).read(0, 512), Error);
  ScriptedImage empty(kSize, [](Request& request, unsigned /*number*/) {
    return answer(request, std::array{Extent{0, true}});
  });
  EXPECT_THROW(MapReader(empty).read(0, 512), Error);
}

TEST(MapReader, SaysWhyItFails) {
  ScriptedImage image(kSize, [](Request& /*request*/, unsigned /*number*/) { return EIO; });
  try {
    MapReader(image).read(512, 1024);
    FAIL() << "it did not fail";
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error(), EIO);
    EXPECT_THAT(error.what(), testing::HasSubstr("map 1024 bytes at 512"));
  }
}

}  // namespace
}  // namespace rdmablk::cli
