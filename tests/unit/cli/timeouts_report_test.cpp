#include "initiator/cli/timeouts_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace rdmablk::cli {
namespace {

using mount_control::kNever;
using mount_control::Phase;
using mount_control::Status;
using testing::HasSubstr;
using testing::Not;

const MountEntry kMount{"0:1", "/mnt/disk", "fuse.rdmablk", "rdmablk://storage1/disk"};

Status status(Phase phase) {
  Status status{};
  status.phase = phase;
  status.times = {500, kNever, 600'000};
  status.phase_time = 12'345;
  status.reconnects = 2;
  return status;
}

TEST(TimeoutsText, IsForPeople) {
  const std::string text = timeouts_text(kMount, status(Phase::connected));
  EXPECT_THAT(text, HasSubstr("source           rdmablk://storage1/disk\n"));
  EXPECT_THAT(text, HasSubstr("state            connected\n"));
  EXPECT_THAT(text, HasSubstr("since            12 s ago\n"));
  EXPECT_THAT(text, HasSubstr("reconnect-delay  0.5 s\n"));
  EXPECT_THAT(text, HasSubstr("fail-fast        never\n"));
  EXPECT_THAT(text, HasSubstr("give-up          600 s\n"));
  EXPECT_THAT(text, Not(HasSubstr("last loss")));
}

TEST(TimeoutsText, TellsWhatAPhaseMeans) {
  EXPECT_THAT(timeouts_text(kMount, status(Phase::reconnecting)), HasSubstr("wait\n"));
  EXPECT_THAT(timeouts_text(kMount, status(Phase::failing)), HasSubstr("still tries"));
  EXPECT_THAT(timeouts_text(kMount, status(Phase::lost)), HasSubstr("for good"));
}

TEST(TimeoutsText, TellsWhyItIsNotBack) {
  Status away = status(Phase::reconnecting);
  std::strcpy(away.last_error, "nothing listens");
  EXPECT_THAT(timeouts_text(kMount, away), HasSubstr("last error       nothing listens\n"));
  EXPECT_THAT(timeouts_text(kMount, status(Phase::connected)), Not(HasSubstr("last error")));
}

TEST(TimeoutsJson, HasEverything) {
  Status lost = status(Phase::reconnecting);
  std::strcpy(lost.reason, "no answer");
  std::strcpy(lost.last_error, "nothing listens");
  EXPECT_EQ(timeouts_json(kMount, lost), Json::parse(R"({
      "version": 1, "mount_point": "/mnt/disk", "source": "rdmablk://storage1/disk",
      "state": "reconnecting", "state_time_ms": 12345, "reconnects": 2, "last_loss": "no answer",
      "last_error": "nothing listens",
      "reconnect_delay_ms": 500, "fail_fast_ms": null, "give_up_ms": 600000})"));
  EXPECT_EQ(timeouts_json(kMount, status(Phase::connected))["last_loss"], Json());
  EXPECT_EQ(timeouts_json(kMount, status(Phase::connected))["last_error"], Json());
}

}  // namespace
}  // namespace rdmablk::cli
