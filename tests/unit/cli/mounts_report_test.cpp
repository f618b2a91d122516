#include "initiator/cli/mounts_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "initiator/cli/forced_unmount.h"

namespace rdmablk::cli {
namespace {

using Kind = MountAnswer::Kind;
using mount_control::Phase;
using testing::HasSubstr;
using testing::Not;

MountReport report(Kind kind) {
  MountReport report{{"0:9", "/mnt/disk", "fuse.rdmablk", "my disk"}, {}};
  report.answer.kind = kind;
  if (kind != Kind::answered) return report;
  report.answer.status.phase = Phase::reconnecting;
  report.answer.status.phase_time = 65'000;
  report.answer.status.reconnects = 2;
  auto& activity = report.answer.activity;
  activity.workers = 2;
  activity.queue_depth = 32;
  activity.in_flight = 3;
  activity.oldest_age = 1'234'567;
  activity.size = 1U << 30U;
  std::strcpy(static_cast<char*>(activity.uri), "rdmablk://storage1/disk");
  return report;
}

TEST(MountsReport, IsForPeople) {
  const std::vector<MountReport> reports{report(Kind::answered), report(Kind::silent)};
  EXPECT_EQ(mounts_text(reports),
            "MOUNT POINT  SOURCE                   STATE          SINCE      QUEUES  IN FLIGHT  "
            "OLDEST  RECONNECTS   SIZE\n"
            "/mnt/disk    rdmablk://storage1/disk  reconnecting   1 min 5 s  2 x 32          3  "
            "1.23 s           2  1 GiB\n"
            "/mnt/disk    my disk                  not answering  -          -               -  "
            "     -           -      -\n");
}

TEST(MountsReport, IsJson) {
  const std::vector<MountReport> reports{report(Kind::answered), report(Kind::dead)};
  const Json mounts = mounts_json(reports).at("mounts");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0].at("state"), "reconnecting");
  EXPECT_EQ(mounts[0].at("uri"), "rdmablk://storage1/disk");
  EXPECT_EQ(mounts[0].at("source"), "my disk");
  EXPECT_EQ(mounts[0].at("in_flight"), 3);
  EXPECT_EQ(mounts[0].at("oldest_request_us"), 1'234'567);
  EXPECT_EQ(mounts[0].at("last_loss"), nullptr);
  EXPECT_EQ(mounts[1].at("state"), "dead");
  EXPECT_EQ(mounts[1].at("in_flight"), nullptr);
  EXPECT_EQ(mounts[0].size(), mounts[1].size());
}

TEST(ForcedUnmountNote, TellsWhatMayBeLost) {
  constexpr const char* kLost = "what was written and not synced may be lost";
  EXPECT_THAT(forced_unmount_note(report(Kind::dead).answer, false), HasSubstr(kLost));
  EXPECT_THAT(forced_unmount_note(report(Kind::silent).answer, false), HasSubstr(kLost));
  MountAnswer answer = report(Kind::answered).answer;
  EXPECT_EQ(forced_unmount_note(answer, false), "3 requests under way failed");
  answer.activity.unsynced = 1;
  EXPECT_THAT(forced_unmount_note(answer, true), HasSubstr("it was in use"));
  EXPECT_THAT(forced_unmount_note(answer, true), HasSubstr(kLost));
}

TEST(ForcedUnmountNote, SaysNothingWhenNothingIsLost) {
  MountAnswer answer = report(Kind::answered).answer;
  answer.status.phase = Phase::connected;
  answer.activity.in_flight = 0;
  answer.activity.unsynced = 1;  // its daemon flushes it
  EXPECT_EQ(forced_unmount_note(answer, false), "");
}

}  // namespace
}  // namespace rdmablk::cli
