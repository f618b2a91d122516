#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "fuse/options.h"

namespace rdmablk::fuse {
namespace {

using testing::HasSubstr;

MountOptions parsed(const std::string& text) {
  MountOptions options;
  options.parse(text);
  return options;
}

std::string refusal(const std::string& text) {
  try {
    parsed(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MountOptions, ReadsAll) {
  const MountOptions options = parsed(
      "ro,allow_other,uid=12,gid=34,mode=0640,fsname=tape,workers=3,queue_depth=64,spin=0,"
      "reconnect_delay=0.5,fail_fast=7,give_up=never,take_over");
  EXPECT_TRUE(options.read_only);
  EXPECT_TRUE(options.allow_other);
  EXPECT_EQ(options.uid, 12U);
  EXPECT_EQ(options.gid, 34U);
  EXPECT_EQ(options.mode, 0640U);
  EXPECT_EQ(options.fsname, "tape");
  EXPECT_EQ(options.workers, 3U);
  EXPECT_EQ(options.queue_depth, 64U);
  EXPECT_EQ(options.spin, std::chrono::microseconds(0));
  EXPECT_EQ(options.recovery.reconnect_delay, std::chrono::milliseconds(500));
  EXPECT_EQ(options.recovery.fail_fast, std::chrono::seconds(7));
  EXPECT_EQ(options.recovery.give_up, std::nullopt);
  EXPECT_TRUE(options.take_over);
}

TEST(MountOptions, SayHowToConnect) {
  const MountOptions options = parsed(
      "cm=tcp,device=mlx5_0/1,gid_index=3,pkey_index=1,service_level=2,traffic_class=104,"
      "path_mtu=1024,ack_timeout=18,retries=5");
  EXPECT_EQ(options.connection.method, cm::Method::tcp);
  EXPECT_EQ(options.connection.settings, (cm::Settings{.device = "mlx5_0",
                                                       .port = 1,
                                                       .gid_index = 3,
                                                       .pkey_index = 1,
                                                       .service_level = 2,
                                                       .traffic_class = 104,
                                                       .path_mtu = 1024,
                                                       .ack_timeout = 18,
                                                       .retries = 5}));
  EXPECT_EQ(parsed("ro").connection, initiator::ConnectionOptions());
  EXPECT_THAT(refusal("retries=8"), HasSubstr("option retries takes"));
  EXPECT_THAT(refusal("cm"), HasSubstr("takes a value"));
  EXPECT_THAT(refusal("gid_indx=1"), HasSubstr("gid_index"));
  EXPECT_THAT(refusal("cm=ud"), HasSubstr("rdmacm or tcp"));
}

TEST(MountOptions, WaitForTheTargetTenMinutes) {
  const MountOptions options;
  EXPECT_EQ(options.recovery.reconnect_delay, std::chrono::seconds(2));
  EXPECT_EQ(options.recovery.fail_fast, std::nullopt);
  EXPECT_EQ(options.recovery.give_up, std::chrono::seconds(600));
  EXPECT_FALSE(options.take_over);
}

TEST(MountOptions, LaterOnesWin) {
  EXPECT_FALSE(parsed("ro,rw").read_only);
  EXPECT_TRUE(parsed("rw,ro").read_only);
  EXPECT_EQ(parsed("uid=1,uid=2").uid, 2U);
}

TEST(MountOptions, TakesThoseOfMountAndFstab) {
  EXPECT_EQ(refusal("defaults,_netdev,nofail,auto,noauto,user,nosuid,nodev,rw"), "accepted");
  EXPECT_EQ(refusal("x-systemd.automount,x-systemd.idle-timeout=10,comment=mine"), "accepted");
  EXPECT_EQ(refusal(""), "accepted");
  EXPECT_EQ(refusal(",,ro,"), "accepted");
}

TEST(MountOptions, TakesWhatMountItselfAdds) {
  EXPECT_EQ(refusal("user=somebody,uhelper=x,helper=y,relatime,lazytime,nosymfollow"), "accepted");
  EXPECT_THAT(refusal("users=somebody"), HasSubstr("users takes no value"));
}

TEST(MountOptions, SuggestsWhatMayBeMeant) {
  EXPECT_THAT(refusal("giveup=3"), HasSubstr("'giveup'; do you mean 'give_up'?"));
  EXPECT_THAT(refusal("_netdv"), HasSubstr("do you mean '_netdev'?"));
}

TEST(MountOptions, LeavesOutWhatIsUnknownWhenToldTo) {
  MountOptions options;
  options.is_sloppy = true;
  options.parse("ro,fast,speed=11,uid=5,_netdev");
  EXPECT_TRUE(options.read_only);
  EXPECT_EQ(options.uid, 5U);
  EXPECT_THAT(options.unknown, testing::ElementsAre("fast", "speed"));
  EXPECT_THROW(options.parse("uid=many"), UsageError)
      << "a value that makes no sense is no less so";
}

TEST(MountOptions, PassesSomeOnToTheKernel) {
  EXPECT_EQ(parsed("noatime,ro,noexec").kernel_flags, "noatime,noexec");
}

TEST(MountOptions, CommaWithinAValue) {
  const MountOptions options = parsed("fsname=a\\,b,ro");
  EXPECT_EQ(options.fsname, "a,b");
  EXPECT_TRUE(options.read_only);
}

TEST(MountOptions, NamesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal("ro,speed=11"), HasSubstr("'speed'"));
  EXPECT_THAT(refusal("direct_io"), HasSubstr("'direct_io'"));
  EXPECT_THAT(refusal("subtype=x"), HasSubstr("'subtype'"));
}

TEST(MountOptions, NamesAValueThatMakesNoSense) {
  EXPECT_THAT(refusal("uid=root"), HasSubstr("uid=root"));
  EXPECT_THAT(refusal("uid=4294967295"), HasSubstr("uid=4294967295"));
  EXPECT_THAT(refusal("gid=-1"), HasSubstr("gid=-1"));
  EXPECT_THAT(refusal("mode=0888"), HasSubstr("mode=0888"));
  EXPECT_THAT(refusal("mode=1777"), HasSubstr("mode=1777"));
  EXPECT_THAT(refusal("mode="), HasSubstr("mode="));
  EXPECT_THAT(refusal("workers=0"), HasSubstr("1 to 64"));
  EXPECT_THAT(refusal("queue_depth=1025"), HasSubstr("1 to 1024"));
  EXPECT_THAT(refusal("spin=1000001"), HasSubstr("spin=1000001"));
  EXPECT_THAT(refusal("slow=3600001"), HasSubstr("slow=3600001"));
  EXPECT_THAT(refusal("fsname="), HasSubstr("fsname"));
  EXPECT_THAT(refusal("reconnect_delay=0"), HasSubstr("option reconnect_delay takes seconds"));
  EXPECT_THAT(refusal("reconnect_delay=never"), HasSubstr("not 'never'"));
  EXPECT_THAT(refusal("fail_fast=soon"), HasSubstr("not 'soon'"));
  EXPECT_THAT(refusal("give_up=-1"), HasSubstr("option give_up takes seconds"));
}

TEST(MountOptions, TellsWhetherAValueBelongsThere) {
  EXPECT_THAT(refusal("uid"), HasSubstr("uid takes a value"));
  EXPECT_THAT(refusal("ro=1"), HasSubstr("ro takes no value"));
  EXPECT_THAT(refusal("allow_other=yes"), HasSubstr("allow_other takes no value"));
}

}  // namespace
}  // namespace rdmablk::fuse
