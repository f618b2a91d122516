#include "fuse/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/error.h"

namespace rdmablk::fuse {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::optional<Options> parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "rdmablk-fuse");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    parsed(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, UriAndMountPoint) {
  const auto options = parsed({"rdmablk://host:99/disk", "/mnt/x"});
  ASSERT_TRUE(options && options->uri);
  EXPECT_EQ(options->uri->target.host, "host");
  EXPECT_EQ(options->uri->target.port, 99);
  EXPECT_EQ(options->mount_point, "/mnt/x");
  EXPECT_EQ(options->image_name(), "disk");
  EXPECT_EQ(options->source(), "rdmablk://host:99/disk");
  EXPECT_FALSE(options->foreground);
}

TEST(Options, NullTakesASizeInPlaceOfAUri) {
  const auto options = parsed({"--null", "64M", "/mnt/x", "-f"});
  ASSERT_TRUE(options);
  EXPECT_FALSE(options->uri);
  EXPECT_EQ(options->null_size, std::uint64_t{64} << 20U);
  EXPECT_EQ(options->image_name(), "null");
  EXPECT_TRUE(options->foreground);
}

TEST(Options, DefaultPlan) {
  const auto options = parsed({"--null", "64M", "/mnt/x"});
  EXPECT_EQ(options->plan(), (WorkerPlan{default_workers(), 32}));
  EXPECT_GE(default_workers(), 1U);
  EXPECT_LE(default_workers(), 4U);
}

TEST(Options, LongOptionsAreMountOptionsToo) {
  const auto a = parsed(
      {"--null", "1M", "m", "--workers=3", "--queue-depth", "7", "--spin", "5", "--slow=20"});
  const auto b =
      parsed({"--null", "1M", "m", "-o", "workers=3,queue_depth=7", "-o", "spin=5,slow=20"});
  for (const auto& options : {a, b}) {
    EXPECT_EQ(options->plan(), (WorkerPlan{3, 7}));
    EXPECT_EQ(options->mount.spin, std::chrono::microseconds(5));
    EXPECT_EQ(options->mount.slow, std::chrono::milliseconds(20));
  }
}

TEST(Options, WhatToDoWhileTheTargetIsAway) {
  const auto a = parsed({"rdmablk://h/d", "m", "--reconnect-delay=0.1", "--fail-fast", "1.5",
                         "--give-up", "never", "--take-over"});
  const auto b = parsed({"rdmablk://h/d", "m", "-o", "reconnect_delay=0.1,fail_fast=1.5", "-o",
                         "give_up=never,take_over"});
  for (const auto& options : {a, b}) {
    EXPECT_EQ(options->mount.recovery.reconnect_delay, std::chrono::milliseconds(100));
    EXPECT_EQ(options->mount.recovery.fail_fast, std::chrono::milliseconds(1500));
    EXPECT_EQ(options->mount.recovery.give_up, std::nullopt);
    EXPECT_TRUE(options->mount.take_over);
  }
}

TEST(Options, WhoOnlyReadsTakesNothingOver) {
  EXPECT_THAT(refusal({"rdmablk://h/d", "m", "-o", "ro", "--take-over"}), HasSubstr("take_over"));
  EXPECT_THAT(refusal({"rdmablk://h/d", "m", "-o", "take_over,ro"}), HasSubstr("take_over"));
  EXPECT_THAT(refusal({"rdmablk://h/d", "m", "-o", "take_over,ro,rw"}), HasSubstr("accepted"));
}

TEST(Options, MountOptionsBetweenTheWords) {
  const auto options = parsed({"rdmablk://h/d", "-o", "ro,uid=5", "/mnt/x", "-o", "gid=6"});
  EXPECT_TRUE(options->mount.read_only);
  EXPECT_EQ(options->mount.uid, 5U);
  EXPECT_EQ(options->mount.gid, 6U);
  EXPECT_EQ(options->mount_point, "/mnt/x");
}

TEST(Options, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal({}), HasSubstr("MOUNTPOINT"));
  EXPECT_THAT(refusal({"rdmablk://h/d"}), HasSubstr("MOUNTPOINT"));
  EXPECT_THAT(refusal({"rdmablk://h/d", "a", "b"}), HasSubstr("MOUNTPOINT"));
  EXPECT_THAT(refusal({"--null", "1M", "rdmablk://h/d", "a"}), HasSubstr("--null"));
  EXPECT_THAT(refusal({"http://h/d", "a"}), HasSubstr("rdmablk://"));
  EXPECT_THAT(refusal({"rdmablk://h/d", ""}), HasSubstr("mount point"));
  EXPECT_THAT(refusal({"--fast", "rdmablk://h/d", "a"}), HasSubstr("--fast"));
}

TEST(Options, RefusesSizesThatMakeNoImage) {
  for (const char* size : {"0", "-1M", "1.5M", "513", "many", "99999999999T"}) {
    EXPECT_THAT(refusal({"--null", size, "/mnt/x"}), HasSubstr(size));
  }
}

TEST(Options, RefusesNumbersOutOfRange) {
  EXPECT_THAT(refusal({"--null", "1M", "m", "--workers", "65"}), HasSubstr("workers"));
  EXPECT_THAT(refusal({"--null", "1M", "m", "--queue-depth", "x"}), HasSubstr("queue_depth"));
}

TEST(Options, HelpIsNoError) {
  testing::internal::CaptureStdout();
  EXPECT_FALSE(parsed({"--help"}));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("rdmablk://HOST[:PORT]/EXPORT"));
}

TEST(Options, RefusesAnOptionGivenTwice) {
  EXPECT_THAT(refusal({"rdmablk://host/disk", "/mnt/x", "--spin=1", "--spin", "2"}),
              HasSubstr("--spin: given more than once;"));
}

TEST(Options, RefusesEmptyValues) {
  for (const char* option : {"--null", "--workers", "--queue-depth", "--spin", "--slow",
                             "--reconnect-delay", "--fail-fast", "--give-up", "--log-level"}) {
    EXPECT_THAT(refusal({"rdmablk://host/disk", "/mnt/x", option, ""}),
                HasSubstr(std::string(option) + ": its value is empty"));
    EXPECT_EQ(refusal({"rdmablk://host/disk", "/mnt/x", (std::string(option) + "=").c_str()}),
              std::string(option) + ": its value is empty");
  }
  for (const char* option :
       {"uid", "gid", "mode", "fsname", "workers", "queue_depth", "spin", "slow", "reconnect_delay",
        "fail_fast", "give_up", "keyfile", "client"}) {
    const std::string word = std::string(option) + "=";
    EXPECT_THAT(refusal({"rdmablk://host/disk", "/mnt/x", "-o", word.c_str()}),
                HasSubstr("option " + std::string(option)));
  }
  EXPECT_TRUE(parsed({"--null", "1M", "/mnt/x", "-o", ""})) << "a list may be empty";
}

TEST(Options, RefusesNumbersThatAreNone) {
  for (const char* option : {"uid", "gid", "mode", "workers", "queue_depth", "spin",
                             "reconnect_delay", "fail_fast", "give_up"}) {
    for (const char* value : {"-1", "nan", "1e9", "5s", "99999999999999999999", "0x10", " 5"}) {
      const std::string word = std::string(option) + "=" + value;
      const std::string text = refusal({"--null", "1M", "/mnt/x", "-o", word.c_str()});
      EXPECT_THAT(text, AllOf(HasSubstr(option), HasSubstr(value), HasSubstr("takes"),
                              Not(HasSubstr("\n"))));
    }
  }
}

}  // namespace
}  // namespace rdmablk::fuse
