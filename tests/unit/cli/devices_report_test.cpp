#include "initiator/cli/devices_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::cli {
namespace {

using testing::HasSubstr;

std::vector<RdmaDevice> devices() {
  RdmaPort roce{1, "active", "Ethernet", 1024, 4096, 0, {}};
  roce.gids = {{0, "RoCE v1", "fe80::1", "eth0"}, {1, "RoCE v2", "::ffff:192.0.2.1", ""}};
  const RdmaPort ib{2, "down", "InfiniBand", 4096, 4096, 17, {}};
  RdmaDevice good{
      "mlx5_0", "channel adapter", "InfiniBand", "16.35.1012", "0011:2233:4455:6677", {roce, ib},
      ""};
  RdmaDevice bad{"mlx5_1",
                 "channel adapter",
                 "InfiniBand",
                 "",
                 "",
                 {},
                 "cannot open RDMA device mlx5_1: Permission denied"};
  return {good, bad};
}

TEST(DevicesJson, HasDevicesPortsAndGids) {
  const Json json = devices_json(devices());
  EXPECT_EQ(json["version"], 1);
  ASSERT_EQ(json["devices"].size(), 2U);
  const Json& device = json["devices"][0];
  EXPECT_EQ(device["name"], "mlx5_0");
  EXPECT_EQ(device["transport"], "InfiniBand");
  EXPECT_EQ(device["node_type"], "channel adapter");
  EXPECT_EQ(device["firmware"], "16.35.1012");
  EXPECT_EQ(device["node_guid"], "0011:2233:4455:6677");
  EXPECT_FALSE(device.contains("error"));
  ASSERT_EQ(device["ports"].size(), 2U);
  const Json& port = device["ports"][0];
  EXPECT_EQ(port["port"], 1);
  EXPECT_EQ(port["state"], "active");
  EXPECT_EQ(port["link_layer"], "Ethernet");
  EXPECT_EQ(port["active_mtu_bytes"], 1024);
  EXPECT_EQ(port["max_mtu_bytes"], 4096);
  EXPECT_FALSE(port.contains("lid"));
  EXPECT_EQ(port["gids"], Json::parse(R"([
      {"index": 0, "type": "RoCE v1", "gid": "fe80::1", "netdev": "eth0"},
      {"index": 1, "type": "RoCE v2", "gid": "::ffff:192.0.2.1"}])"));
  EXPECT_EQ(device["ports"][1]["lid"], 17);
}

TEST(DevicesJson, SaysWhyADeviceCouldNotBeAsked) {
  const Json json = devices_json(devices());
  EXPECT_THAT(json["devices"][1]["error"].get<std::string>(), HasSubstr("Permission denied"));
  EXPECT_EQ(json["devices"][1]["ports"], Json::array());
}

TEST(DevicesJson, HasAnEmptyListWithoutDevices) {
  EXPECT_EQ(devices_json({}).dump(), R"({"version":1,"devices":[]})");
}

TEST(DevicesText, HasALineForEachPortAndGid) {
  const std::string text = devices_text(devices());
  EXPECT_THAT(text, HasSubstr("mlx5_0  InfiniBand  channel adapter  16.35.1012  1     active"));
  EXPECT_THAT(text, HasSubstr("2     down"));
  EXPECT_THAT(text, HasSubstr("RoCE v2"));
  EXPECT_THAT(text, HasSubstr("::ffff:192.0.2.1"));
  EXPECT_THAT(text, HasSubstr("mlx5_1: cannot open RDMA device mlx5_1: Permission denied\n"));
}

}  // namespace
}  // namespace rdmablk::cli
