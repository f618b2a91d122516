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

void add_path(MountReport& report, const char* address, const char* device, bool is_up) {
  auto& paths = report.answer.paths;
  paths.version = mount_control::Paths::kVersion;
  auto& path = paths.paths[paths.count++];
  std::strcpy(static_cast<char*>(path.address), address);
  std::strcpy(static_cast<char*>(path.device), device);
  if (!is_up) std::strcpy(static_cast<char*>(path.last_error), "no answer");
  path.is_up = is_up ? 1 : 0;
  path.is_session = is_up ? 1 : 0;
  path.queues = is_up ? 2 : 0;
  path.failures = 3;
  path.bytes_read = 4096;
}

TEST(MountsReport, ShowsThePathsOfAMountThatHasSeveral) {
  std::vector<MountReport> reports{report(Kind::answered)};
  add_path(reports[0], "192.0.2.1:10812", "mlx5_0", true);
  EXPECT_THAT(mounts_text(reports), Not(HasSubstr("PATH")));
  add_path(reports[0], "192.0.2.2:10812", "", false);
  EXPECT_THAT(
      mounts_text(reports),
      testing::EndsWith(
          "\n\n"
          "MOUNT POINT  PATH             DEVICE  STATE  QUEUES   READ  WRITTEN  FAILURES  WHY\n"
          "/mnt/disk    192.0.2.1:10812  mlx5_0  up          2  4 KiB  0 bytes         3\n"
          "/mnt/disk    192.0.2.2:10812  -       down        0  4 KiB  0 bytes         3  no "
          "answer\n"));
  const Json paths = mounts_json(reports).at("mounts")[0].at("paths");
  ASSERT_EQ(paths.size(), 2U);
  EXPECT_EQ(paths[0].at("device"), "mlx5_0");
  EXPECT_EQ(paths[0].at("session"), true);
  EXPECT_EQ(paths[0].at("bytes_read"), 4096);
  EXPECT_EQ(paths[0].at("last_error"), nullptr);
  EXPECT_EQ(paths[1].at("device"), nullptr);
  EXPECT_EQ(paths[1].at("up"), false);
  EXPECT_EQ(paths[1].at("last_error"), "no answer");
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
  EXPECT_EQ(mounts[0].at("paths"), nullptr);  // an older rdmablk-fuse
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
