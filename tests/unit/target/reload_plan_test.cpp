#include "target/reload_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdmablk::target {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

ExportSpec spec(const std::string& text, ExportOrigin origin = ExportOrigin::configuration) {
  ExportSpec made = parse_export_spec(text);
  made.origin = origin;
  return made;
}

/// One that runs as it was asked for; a file with its size.
RunningExport running(const std::string& text, std::uint64_t file_size = 0,
                      ExportOrigin origin = ExportOrigin::configuration) {
  RunningExport one{spec(text, origin), false};
  if (one.spec.has_file()) one.spec.size = file_size;
  return one;
}

RunningExport with_data(RunningExport one) {
  one.holds_data = true;
  return one;
}

ReloadPlan plan(const std::vector<RunningExport>& running, const std::vector<ExportSpec>& wanted,
                const std::vector<std::string>& discards = {}) {
  return plan_reload(running, wanted, discards);
}

TEST(ReloadPlanTest, WhatIsAsWantedStays) {
  EXPECT_TRUE(plan({}, {}).empty());
  EXPECT_TRUE(
      plan({running("a=memory:1M,huge=2M"), running("b=file:/b,size=2M", 2 * kMiB),
            running("c=file:/c,direct=off", kMiB)},
           {spec("c=file:/c,direct=off"), spec("a=memory:1M,huge=2M"), spec("b=file:/b,size=2M")})
          .empty());
}

TEST(ReloadPlanTest, AddsWhatIsMissing) {
  const auto made = plan({running("a=memory:1M")}, {spec("a=memory:1M"), spec("b=memory:2M")});
  ASSERT_EQ(made.add.size(), 1U);
  EXPECT_EQ(made.add[0].name, "b");
  EXPECT_EQ(made.add[0].size, 2 * kMiB);
  EXPECT_EQ(made.add[0].origin, ExportOrigin::configuration);
  EXPECT_THAT(made.remove, IsEmpty());
  EXPECT_THAT(made.refused, IsEmpty());
}

TEST(ReloadPlanTest, RemovesWhatNothingAsksForAnyMore) {
  const auto made = plan({running("a=memory:1M"), running("b=file:/b", kMiB)}, {});
  ASSERT_EQ(made.remove.size(), 2U);
  EXPECT_EQ(made.remove[0].name, "a");
  EXPECT_FALSE(made.remove[0].discard);
  EXPECT_EQ(made.remove[1].name, "b");
}

TEST(ReloadPlanTest, KeepsMemoryThatHasData) {
  const std::vector<RunningExport> there{with_data(running("a=memory:1M")),
                                         with_data(running("b=memory:1M"))};
  const auto made = plan(there, {}, {"b"});
  ASSERT_EQ(made.remove.size(), 1U);
  EXPECT_EQ(made.remove[0].name, "b");
  EXPECT_TRUE(made.remove[0].discard);
  EXPECT_THAT(made.refused, ElementsAre(HasSubstr("'a' stays")));
  EXPECT_THAT(made.refused, ElementsAre(HasSubstr("--discard a")));
}

TEST(ReloadPlanTest, LeavesAloneWhatAnAdministratorAdded) {
  EXPECT_TRUE(plan({running("a=memory:1M", 0, ExportOrigin::run_time)}, {}).empty());
  EXPECT_TRUE(
      plan({with_data(running("a=memory:1M", 0, ExportOrigin::run_time))}, {}, {"a"}).empty());
}

TEST(ReloadPlanTest, AdoptsItWhenItIsWantedByNow) {
  const auto made =
      plan({running("a=memory:1M", 0, ExportOrigin::run_time)}, {spec("a=memory:1M")});
  ASSERT_EQ(made.adopt.size(), 1U);
  EXPECT_EQ(made.adopt[0].origin, ExportOrigin::configuration);
  EXPECT_THAT(made.add, IsEmpty());
  EXPECT_THAT(made.refused, IsEmpty());
}

TEST(ReloadPlanTest, ResizesMemoryAndFiles) {
  const auto made =
      plan({running("a=memory:1M"), running("b=file:/b,size=1M", kMiB), running("c=file:/c", kMiB)},
           {spec("a=memory:2M"), spec("b=file:/b,size=3M"), spec("c=file:/c")});
  ASSERT_EQ(made.resize.size(), 2U) << "a file that no size is given for keeps its own";
  EXPECT_EQ(made.resize[0].name, "a");
  EXPECT_EQ(made.resize[0].size, 2 * kMiB);
  EXPECT_EQ(made.resize[1].size, 3 * kMiB);
  EXPECT_THAT(made.refused, IsEmpty());
}

TEST(ReloadPlanTest, FollowsADeviceThatGrew) {
  auto device = running("a=file:/dev/a", kMiB);
  device.own_size = 2 * kMiB;
  const auto made = plan({device}, {spec("a=file:/dev/a")});
  ASSERT_EQ(made.resize.size(), 1U);
  EXPECT_EQ(made.resize[0].size, 2 * kMiB);
  EXPECT_TRUE(plan({device}, {spec("a=file:/dev/a,size=1M")}).empty()) << "it is to have its size";
  device.own_size = kMiB / 2;
  EXPECT_TRUE(plan({device}, {spec("a=file:/dev/a")}).empty()) << "nothing is cut off unasked";
}

TEST(ReloadPlanTest, CutsNothingOffUnlessToldSo) {
  for (const auto& [now, wanted] : {std::pair{"a=memory:2M", "a=memory:1M"},
                                    std::pair{"a=file:/a,size=2M", "a=file:/a,size=1M"}}) {
    const auto one = running(now, 2 * kMiB);
    const auto made = plan({one}, {spec(wanted)});
    EXPECT_THAT(made.resize, IsEmpty());
    EXPECT_THAT(made.refused, ElementsAre(HasSubstr("'a' stays at 2 MiB")));
    EXPECT_EQ(plan({one}, {spec(wanted)}, {"a"}).resize.size(), 1U);
  }
}

TEST(ReloadPlanTest, ComparesWithTheSizeThatIsOffered) {
  auto resized = running("a=memory:1M");
  resized.spec.size = 2 * kMiB;
  EXPECT_TRUE(plan({resized}, {spec("a=memory:2M")}).empty());
}

TEST(ReloadPlanTest, ChangesRulesOfLiveExports) {
  const auto made = plan({running("a=memory:1M,allow=alice,allow=bob:ro@192.0.2.0/24")},
                         {spec("a=memory:1M,allow=alice")});
  ASSERT_EQ(made.rules.size(), 1U);
  EXPECT_THAT(made.rules[0].rules.clients(), ElementsAre("alice"));
  EXPECT_THAT(made.refused, IsEmpty());
  EXPECT_TRUE(plan({running("a=memory:1M,allow=bob:ro@192.0.2.0/24")},
                   {spec("a=memory:1M,allow=bob:ro@192.0.2.0/24")})
                  .empty());
  EXPECT_EQ(plan({running("a=memory:1M,allow=bob@192.0.2.0/24")},
                 {spec("a=memory:1M,allow=bob@192.0.2.0/25")})
                .rules.size(),
            1U);
}

/// @return why the one change is refused.
std::string refusal(const std::string& before, const std::string& now) {
  const auto made = plan({running(before, kMiB)}, {spec(now)});
  EXPECT_THAT(made.add, IsEmpty());
  EXPECT_THAT(made.remove, IsEmpty());
  EXPECT_THAT(made.resize, IsEmpty());
  EXPECT_EQ(made.refused.size(), 1U) << now;
  return made.refused.empty() ? std::string() : made.refused.front();
}

TEST(ReloadPlanTest, SaysWhatALiveExportCannotChange) {
  EXPECT_THAT(refusal("a=memory:1M", "a=file:/a"), HasSubstr("memory or of a file"));
  EXPECT_THAT(refusal("a=memory:1M", "a=memory:2M,huge=2M"), HasSubstr("(huge)"));
  EXPECT_THAT(refusal("a=memory:1M", "a=memory:1M,chunk=4K"), HasSubstr("(chunk)"));
  EXPECT_THAT(refusal("a=memory:1M", "a=memory:1M,save=/a"), HasSubstr("(save)"));
  EXPECT_THAT(refusal("a=memory:1M", "a=memory:1M,readonly"), HasSubstr("(readonly)"));
  EXPECT_THAT(refusal("a=file:/a", "a=file:/b,shared"), HasSubstr("(the path, shared)"));
  EXPECT_THAT(refusal("a=file:/a", "a=file:/a,resident"), HasSubstr("(resident"));
  EXPECT_THAT(refusal("a=file:/a", "a=file:/a,direct=off"), HasSubstr("(direct)"));
  EXPECT_THAT(refusal("a=file:/a", "a=file:/a,direct=off"),
              HasSubstr("removed and added again, or a restart"));
}

TEST(ReloadPlanTest, HowAMissingFileIsMadeDoesNotMatterAnyMore) {
  EXPECT_TRUE(
      plan({running("a=file:/a,size=1M,sparse", kMiB)}, {spec("a=file:/a,size=1M")}).empty());
}

}  // namespace
}  // namespace rdmablk::target
