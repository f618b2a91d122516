#include "initiator/cli/devices_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rdmablk::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::vector<RdmaDevice> devices() {
  RdmaPort roce{1, "active", "Ethernet", 1024, 4096, 0, {}};
  roce.gids = {{0, "RoCE v1", "fe80::1", "eth0"}, {1, "RoCE v2", "::ffff:192.0.2.1", ""}};
  roce.gids[1].chosen_for = "IPv4";
  roce.speed = 100;
  roce.max_message = 1U << 30U;
  RdmaPort ib{2, "down", "InfiniBand", 4096, 4096, 17, {}};
  ib.pkeys = {0xffff, 0, 0x0001};
  RdmaDevice good{
      "mlx5_0", "channel adapter", "InfiniBand", "16.35.1012", "0011:2233:4455:6677", {roce, ib},
      ""};
  good.limits = {.max_mr_bytes = 1U << 31U,
                 .max_qp = 131072,
                 .max_qp_wr = 32768,
                 .max_sge = 30,
                 .max_cqe = 4194303,
                 .max_read_in = 16,
                 .inline_bytes = 828,
                 .has_odp = true,
                 .odp = "send, write"};
  good.numa_node = 1;
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
      {"index": 1, "type": "RoCE v2", "gid": "::ffff:192.0.2.1", "taken_for": "IPv4"}])"));
  EXPECT_EQ(port["speed_gbit_s"], 100);
  EXPECT_EQ(port["max_message_bytes"], 1U << 30U);
  EXPECT_FALSE(port.contains("pkeys"));
  EXPECT_EQ(device["ports"][1]["lid"], 17);
  EXPECT_EQ(device["ports"][1]["pkeys"], Json::parse("[65535, 0, 1]"));
  EXPECT_FALSE(device["ports"][1].contains("speed_gbit_s"));
  EXPECT_EQ(device["numa_node"], 1);
  const Json& limits = device["limits"];
  EXPECT_EQ(limits["max_qp_wr"], 32768);
  EXPECT_EQ(limits["max_mr_size_bytes"], 1U << 31U);
  EXPECT_EQ(limits["max_qp_rd_atom"], 16);
  EXPECT_EQ(limits["inline_bytes"], 828);
  EXPECT_EQ(limits["on_demand_paging"], true);
  EXPECT_EQ(limits["memory_windows"], false);
}

TEST(DevicesJson, SaysWhyADeviceCouldNotBeAsked) {
  const Json json = devices_json(devices());
  EXPECT_THAT(json["devices"][1]["error"].get<std::string>(), HasSubstr("Permission denied"));
  EXPECT_EQ(json["devices"][1]["ports"], Json::array());
  EXPECT_FALSE(json["devices"][1].contains("limits"));
  EXPECT_EQ(json["devices"][1]["numa_node"], nullptr);
}

TEST(DevicesJson, HasAnEmptyListWithoutDevices) {
  EXPECT_EQ(devices_json({}).dump(), R"({"version":1,"devices":[]})");
}

TEST(DevicesText, HasALineForEachPortAndGid) {
  const std::string text = devices_text(devices());
  EXPECT_THAT(text, HasSubstr("mlx5_0  RoCE        channel adapter  16.35.1012  1     active"));
  EXPECT_THAT(text, HasSubstr("mlx5_0  InfiniBand  channel adapter  16.35.1012  2     down"));
  EXPECT_THAT(text, HasSubstr("100 Gbit/s"));
  EXPECT_THAT(text, HasSubstr("RoCE v2"));
  EXPECT_THAT(text, HasSubstr("::ffff:192.0.2.1"));
  EXPECT_THAT(text, HasSubstr("mlx5_1: cannot open RDMA device mlx5_1: Permission denied\n"));
}

TEST(DevicesText, HasThePartitionsOfInfiniBand) {
  const std::string text = devices_text(devices());
  EXPECT_THAT(text, ContainsRegex("mlx5_0 +2 +0 +0xffff +full\n"));
  EXPECT_THAT(text, ContainsRegex("mlx5_0 +2 +2 +0x0001 +limited\n"));
}

TEST(DevicesText, HasTheLimitsWhenTheyAreWanted) {
  EXPECT_THAT(devices_text(devices()), Not(HasSubstr("max_qp_wr")));
  const std::string text = devices_text(devices(), true);
  EXPECT_THAT(text, ContainsRegex("max_qp_wr\\) +32768\n"));
  EXPECT_THAT(text, ContainsRegex("inline, as tried +828\n"));
  EXPECT_THAT(text, ContainsRegex("on-demand paging.* send, write\n"));
  EXPECT_THAT(text, ContainsRegex("memory windows +no\n"));
  EXPECT_THAT(text, ContainsRegex("NUMA node +1\n"));
}

/// The indices of the GIDs that are taken for IPv4, IPv6 and link-local peers; -1: none.
std::vector<int> choices(std::vector<Gid> gids) {
  mark_choices(gids);
  std::vector<int> found;
  for (const char* const family : {"IPv4", "IPv6", "link-local"}) {
    const auto gid = std::ranges::find(gids, family, &Gid::chosen_for);
    found.push_back(gid == gids.end() ? -1 : static_cast<int>(gid->index));
  }
  return found;
}

TEST(GidChoice, PrefersRoceV2) {
  EXPECT_EQ(choices({{0, "RoCE v1", "fe80::1", ""},
                     {1, "RoCE v2", "fe80::1", ""},
                     {2, "RoCE v1", "::ffff:192.0.2.1", ""},
                     {3, "RoCE v2", "::ffff:192.0.2.1", ""},
                     {4, "RoCE v2", "::ffff:192.0.2.2", ""},
                     {5, "RoCE v2", "2001:db8::1", ""}}),
            (std::vector<int>{3, 5, 1}));
  EXPECT_EQ(choices({{0, "RoCE v1", "fe80::1", ""}, {2, "RoCE v1", "::ffff:192.0.2.1", ""}}),
            (std::vector<int>{2, -1, 0}));
  EXPECT_EQ(choices({{0, "RoCE v1", "2001:db8::1", ""}, {1, "RoCE v2", "fe80::1", ""}}),
            (std::vector<int>{-1, -1, 1}));
  EXPECT_EQ(choices({{0, "iWARP", "200::", ""}}), (std::vector<int>{-1, -1, -1}));
}

}  // namespace
}  // namespace rdmablk::cli
