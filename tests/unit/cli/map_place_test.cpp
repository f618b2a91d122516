#include "initiator/cli/mapping/map_place.h"

#include <gtest/gtest.h>

#include "initiator/cli/mapping/loop_device.h"

namespace rdmablk::cli::mapping {
namespace {

std::string named(const std::string& target) {
  return file_name(parse_host_port(target));
}

TEST(MapPlace, OfAnExport) {
  const MapRoots roots{.run = "/run/x", .dev = "/dev/x"};
  const MapPlace place(roots, parse_uri("rdmablk://storage1:10900/disk"));
  EXPECT_EQ(place.directory, "/run/x/storage1@10900/disk");
  EXPECT_EQ(place.image(), "/run/x/storage1@10900/disk/image");
  EXPECT_EQ(place.link, "/dev/x/storage1@10900/disk");
  EXPECT_EQ(roots.uuid_link("u"), "/dev/x/by-uuid/u");
  EXPECT_EQ(roots.name_link("n"), "/dev/x/by-name/n");
}

TEST(MapPlace, NamesHosts) {
  EXPECT_EQ(named("storage-1.example.org"), "storage-1.example.org");
  EXPECT_EQ(named("storage1:10812"), "storage1");
  EXPECT_EQ(named("192.168.77.1:1"), "192.168.77.1@1");
  EXPECT_EQ(named("[fd00::1]:99"), "fd00::1@99");
  EXPECT_EQ(named("[fe80::1%eth0]"), "fe80::1+25eth0");
}

TEST(MapPlace, LeavesNoWayOut) {
  EXPECT_EQ(named(".."), "+2e.");
  EXPECT_EQ(named(".udev"), "+2eudev");
  EXPECT_EQ(named("by-uuid"), "+62y-uuid");
  EXPECT_EQ(named("by-name"), "+62y-name");
  EXPECT_EQ(named("a+b\\c"), "a+2bb+5cc");
}

TEST(LoopBlockSize, IsOneThatTheImageIsAMultipleOf) {
  EXPECT_EQ(loop_block_size(1U << 20U, 512), 512U);
  EXPECT_EQ(loop_block_size(1U << 20U, 4096), 4096U);
  EXPECT_EQ(loop_block_size(4096 + 512, 4096), 512U);
  EXPECT_EQ(loop_block_size(4096 + 1024, 4096), 1024U);
  EXPECT_EQ(loop_block_size(1U << 20U, 0), 512U);
  EXPECT_EQ(loop_block_size(1U << 20U, 3000), 2048U);
  EXPECT_LE(loop_block_size(1U << 30U, 1U << 20U), 65536U);
}

}  // namespace
}  // namespace rdmablk::cli::mapping
