// Two devices and their GIDs: which port and which version of RoCE a queue pair is reached by.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

// Before the library reads it.
[[maybe_unused]] const int kEnvironment = setenv("SOFTVERBS_DEVICES", "2", 1);

// Indexes that every device has.
constexpr int kLinkLocalV1 = 0;
constexpr int kLinkLocalV2 = 1;
constexpr int kMappedV1 = 2;
constexpr int kMappedV2 = 3;

std::string text_of(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, gid.raw, text, sizeof text);
  return text;
}

ibv_gid_entry entry_of(ibv_context* context, uint32_t index) {
  ibv_gid_entry entry{};
  EXPECT_EQ(ibv_query_gid_ex(context, 1, index, &entry, 0), 0) << index;
  return entry;
}

class DevicesTest : public testing::Test {
 protected:
  Owned<ibv_context> first = open_device(0);
  Owned<ibv_context> second = open_device(1);
};

TEST_F(DevicesTest, EachHasGidsOfItsOwn) {
  EXPECT_EQ(text_of(entry_of(first.get(), kLinkLocalV1).gid), "fe80::53:4fff:fe00:1");
  EXPECT_EQ(text_of(entry_of(first.get(), kMappedV2).gid), "::ffff:127.0.0.1");
  EXPECT_EQ(text_of(entry_of(second.get(), kLinkLocalV1).gid), "fe80::53:4fff:fe00:2");
  EXPECT_EQ(text_of(entry_of(second.get(), kMappedV2).gid), "::ffff:127.0.0.2");
  std::vector<ibv_gid_entry> table(255);
  std::set<std::string> seen;
  for (ibv_context* context : {first.get(), second.get()}) {
    const ssize_t count = ibv_query_gid_table(context, table.data(), table.size(), 0);
    ASSERT_GE(count, 4);
    std::set<std::string> own;
    for (ssize_t i = 0; i < count; ++i) own.insert(text_of(table[static_cast<size_t>(i)].gid));
    for (const std::string& gid : own) EXPECT_TRUE(seen.insert(gid).second) << gid;
  }
}

TEST_F(DevicesTest, EachGidIsThereInBothVersionsOfRoce) {
  std::vector<ibv_gid_entry> table(255);
  const ssize_t count = ibv_query_gid_table(first.get(), table.data(), table.size(), 0);
  ASSERT_EQ(count % 2, 0);
  for (uint32_t i = 0; i < static_cast<uint32_t>(count); ++i) {
    EXPECT_EQ(table[i].gid_index, i);
    EXPECT_EQ(table[i].gid_type, i % 2 == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2) << i;
    EXPECT_NE(table[i].ndev_ifindex, 0U);
    ibv_gid gid{};
    ASSERT_EQ(ibv_query_gid(first.get(), 1, static_cast<int>(i), &gid), 0);
    EXPECT_EQ(text_of(gid), text_of(table[i].gid));
    EXPECT_EQ(text_of(gid), text_of(table[i / 2 * 2].gid));
    EXPECT_EQ(entry_of(first.get(), i).gid_type, table[i].gid_type);
  }
}

TEST_F(DevicesTest, APlaceInTheTableMayBeEmpty) {
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(first.get(), 1, &port), 0);
  const auto last = static_cast<uint32_t>(port.gid_tbl_len) - 1;
  ibv_gid_entry entry{};
  EXPECT_EQ(ibv_query_gid_ex(first.get(), 1, last, &entry, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(first.get(), 1, last + 1, &entry, 0), EINVAL);
  EXPECT_EQ(ibv_query_gid_ex(first.get(), 2, 0, &entry, 0), EINVAL);
  ibv_gid gid{};
  gid.raw[0] = 1;
  EXPECT_EQ(ibv_query_gid(first.get(), 1, static_cast<int>(last), &gid), 0);
  EXPECT_EQ(text_of(gid), "::");
  EXPECT_EQ(ibv_query_gid(first.get(), 1, static_cast<int>(last) + 1, &gid), -1);
}

/// What a WRITE from `a` to `b` ends with when each is told the other's address with the GID at an
/// index, or with `wrong`, and speaks from that index.
ibv_wc_status write_between(ibv_context* from, ibv_context* to, int index, int other_index,
                            const ibv_gid* wrong = nullptr) {
  const Endpoint a(from);
  const Endpoint b(to);
  Connection connection;
  connection.timeout = 1;
  connection.retry_count = 1;
  Address address = b.address(nullptr, other_index);
  if (wrong != nullptr) address.gid = *wrong;
  connection.sgid_index = static_cast<uint8_t>(index);
  a.connect(address, connection);
  connection.sgid_index = static_cast<uint8_t>(other_index);
  b.connect(a.address(nullptr, index), connection);
  const Buffer local(a.pd, 64);
  const Buffer remote(b.pd, 64);
  ibv_sge sge = local.sge();
  EXPECT_EQ(a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  return a.wait().status;
}

TEST_F(DevicesTest, ReachOneAnother) {
  for (const int index : {kLinkLocalV1, kLinkLocalV2, kMappedV1, kMappedV2}) {
    EXPECT_EQ(write_between(first.get(), second.get(), index, index), IBV_WC_SUCCESS) << index;
    EXPECT_EQ(write_between(second.get(), second.get(), index, index), IBV_WC_SUCCESS) << index;
  }
}

TEST_F(DevicesTest, AQueuePairIsNotReachedByAnotherDevicesAddress) {
  const ibv_gid wrong = entry_of(first.get(), kMappedV2).gid;
  EXPECT_EQ(write_between(first.get(), second.get(), kMappedV2, kMappedV2, &wrong),
            IBV_WC_RETRY_EXC_ERR);
}

TEST_F(DevicesTest, VersionsOfRoceDoNotMix) {
  EXPECT_EQ(write_between(first.get(), second.get(), kMappedV1, kMappedV2), IBV_WC_RETRY_EXC_ERR);
}

TEST_F(DevicesTest, APathMayHaveTheActiveMtuAndNoMore) {
  for (const auto& [context, active] :
       {std::pair(first.get(), IBV_MTU_4096), {second.get(), IBV_MTU_1024}}) {
    ibv_port_attr port{};
    ASSERT_EQ(ibv_query_port(context, 1, &port), 0);
    EXPECT_EQ(port.active_mtu, active);
    EXPECT_EQ(port.max_mtu, IBV_MTU_4096);
    const Endpoint end(context);
    ASSERT_EQ(end.to_init(), 0);
    Connection connection;
    for (const int mtu : {active + 1, 0}) {
      connection.path_mtu = static_cast<ibv_mtu>(mtu);
      EXPECT_EQ(end.to_rtr(end.address(), connection), EINVAL) << mtu;
    }
    connection.path_mtu = active;
    EXPECT_EQ(end.to_rtr(end.address(), connection), 0);
  }
}

TEST_F(DevicesTest, AMessageFindsNoQueuePairOfAnotherDeviceEither) {
  const Endpoint a(first.get());
  const Endpoint b(second.get());
  Connection connection;
  connection.timeout = 1;
  connection.retry_count = 1;
  Address address = b.address();
  address.gid = entry_of(first.get(), kLinkLocalV1).gid;
  a.connect(address, connection);
  b.connect(a.address(), connection);
  const Buffer buffer(b.pd, 64);
  ASSERT_EQ(b.receive(buffer.sge()), 0);
  ASSERT_EQ(a.post(send_request(nullptr)), 0);
  EXPECT_EQ(a.wait().status, IBV_WC_RETRY_EXC_ERR);
}

}  // namespace
}  // namespace softverbs::test
