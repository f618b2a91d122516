#include "fuse/mount_helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "fuse/options.h"

namespace rdmablk::fuse {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

HelperCall parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "mount.rdmablk");
  return parse_helper_call(static_cast<int>(words.size()), words.data()).value();
}

/// What rdmablk-fuse makes of a call.
Options understood(const HelperCall& call) {
  std::vector<const char*> words;
  const auto arguments = call.fuse_arguments();
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  return parse_command_line(static_cast<int>(words.size()), words.data()).value();
}

TEST(MountHelper, IsKnownByItsName) {
  EXPECT_TRUE(is_mount_helper("mount.rdmablk"));
  EXPECT_TRUE(is_mount_helper("/sbin/mount.rdmablk"));
  EXPECT_TRUE(is_mount_helper("/sbin/mount.fuse.rdmablk"));
  EXPECT_FALSE(is_mount_helper("/usr/bin/rdmablk-fuse"));
  EXPECT_FALSE(is_mount_helper("/sbin/mount.rdmablk/x"));
  EXPECT_FALSE(is_mount_helper(""));
}

TEST(MountHelper, TakesWhatMountSays) {
  const HelperCall call =
      parsed({"rdmablk://h/d", "/mnt/x", "-s", "-f", "-n", "-v", "-N", "/proc/7/fd/3", "-t",
              "fuse.rdmablk", "-o", "ro,_netdev", "-o", "uid=3"});
  EXPECT_EQ(call.source, "rdmablk://h/d");
  EXPECT_EQ(call.mount_point, "/mnt/x");
  EXPECT_TRUE(call.is_sloppy && call.is_fake && call.is_verbose);
  EXPECT_EQ(call.name_space, "/proc/7/fd/3");
  EXPECT_THAT(call.options, ElementsAre("ro,_netdev", "uid=3"));
}

TEST(MountHelper, TakesFlagsInOneWord) {
  const HelperCall call = parsed({"rdmablk://h/d", "/mnt/x", "-sfnv", "-o", "rw"});
  EXPECT_TRUE(call.is_sloppy && call.is_fake && call.is_verbose);
}

TEST(MountHelper, RefusesWhatIsNoCall) {
  EXPECT_THROW(parsed({"rdmablk://h/d"}), UsageError);
  EXPECT_THROW(parsed({"rdmablk://h/d", "/mnt/x", "/mnt/y"}), UsageError);
  EXPECT_THROW(parsed({"rdmablk://h/d", "/mnt/x", "-z"}), UsageError);
}

TEST(MountHelper, IsARemountAnywhereInTheOptions) {
  EXPECT_TRUE(parsed({"rdmablk://h/d", "/mnt/x", "-o", "ro,remount"}).is_remount());
  EXPECT_TRUE(parsed({"rdmablk://h/d", "/mnt/x", "-o", "ro", "-o", "remount"}).is_remount());
  EXPECT_FALSE(parsed({"rdmablk://h/d", "/mnt/x", "-o", "fsname=remount"}).is_remount());
}

TEST(MountHelper, BecomesACallOfTheDaemon) {
  const Options options = understood(parsed(
      {"rdmablk://h/d", "/mnt/x", "-s", "-o", "ro,give_up=7,fast,x-systemd.automount,user=me"}));
  EXPECT_EQ(options.uri->text(), "rdmablk://h:10812/d");
  EXPECT_EQ(options.mount_point, "/mnt/x");
  EXPECT_TRUE(options.mount.read_only);
  EXPECT_TRUE(options.quiet && options.for_mount);
  EXPECT_FALSE(options.is_fake);
  EXPECT_THAT(options.mount.unknown, ElementsAre("fast"));
}

TEST(MountHelper, LeavesTheSourceAsItWasWritten) {
  EXPECT_EQ(understood(parsed({"rdmablk://h/d", "m"})).mount.fsname, "rdmablk://h/d");
  EXPECT_EQ(understood(parsed({"rdmablk://a,b/d", "m"})).mount.fsname, "rdmablk://a,b/d");
  EXPECT_EQ(understood(parsed({"rdmablk://h/d", "m", "-o", "fsname=x"})).mount.fsname, "x");
}

TEST(MountHelper, TakesNoMountPointForAnOption) {
  EXPECT_THAT(parsed({"rdmablk://h/d", "/mnt/x"}).fuse_arguments(), Contains("--"));
}

}  // namespace
}  // namespace rdmablk::fuse
