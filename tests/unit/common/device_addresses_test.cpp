#include "common/cm/device_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include "common/error.h"

namespace rdmablk::cm {
namespace {

using testing::HasSubstr;

SocketAddress at(const std::string& host) {
  return resolve({host, 0}).front();
}

DeviceAddress of(const std::string& host, unsigned prefix) {
  return {at(host), prefix, "eth0", "GID 3 of port 1, RoCE v2"};
}

/// What was chosen; "none".
std::string choice(const std::vector<DeviceAddress>& addresses, const std::string& peer) {
  const DeviceAddress* const chosen = choose_source(addresses, at(peer));
  return chosen == nullptr ? "none" : chosen->address.host();
}

TEST(ChooseSource, TakesThePeersFamily) {
  const std::vector<DeviceAddress> addresses{of("fe80::1%lo", 64), of("192.0.2.1", 24),
                                             of("2001:db8::1", 64)};
  EXPECT_EQ(choice(addresses, "192.0.2.9"), "192.0.2.1");
  EXPECT_EQ(choice(addresses, "198.51.100.9"), "192.0.2.1");
  EXPECT_EQ(choice(addresses, "2001:db8::9"), "2001:db8::1");
  EXPECT_EQ(choice(addresses, "fe80::9%lo"), "fe80::1%lo");
  EXPECT_EQ(choice({of("192.0.2.1", 24)}, "2001:db8::9"), "none");
  EXPECT_EQ(choice({of("fe80::1%lo", 64)}, "2001:db8::9"), "none");
  EXPECT_EQ(choice({of("2001:db8::1", 64)}, "fe80::9%lo"), "none");
}

TEST(ChooseSource, PrefersTheSameNetwork) {
  const std::vector<DeviceAddress> addresses{of("192.0.2.1", 25), of("192.0.2.129", 25),
                                             of("198.51.100.1", 24)};
  EXPECT_EQ(choice(addresses, "192.0.2.9"), "192.0.2.1");
  EXPECT_EQ(choice(addresses, "192.0.2.200"), "192.0.2.129");
  EXPECT_EQ(choice(addresses, "198.51.100.200"), "198.51.100.1");
  EXPECT_EQ(choice(addresses, "203.0.113.1"), "192.0.2.1");
}

TEST(ChooseSource, KeepsToALinkThatIsTold) {
  const std::string lo = "fe80::1%lo";
  ASSERT_EQ(at(lo).scope(), if_nametoindex("lo"));
  EXPECT_EQ(choice({of(lo, 64)}, "fe80::9%lo"), "fe80::1%lo");
  EXPECT_EQ(choice({of(lo, 64)}, "fe80::9%4096"), "none");
}

TEST(SocketAddressTest, ComparesAddresses) {
  EXPECT_TRUE(at("192.0.2.1").shares(at("192.0.3.1"), 23));
  EXPECT_FALSE(at("192.0.2.1").shares(at("192.0.3.1"), 24));
  EXPECT_FALSE(at("192.0.2.1").shares(at("::1"), 0));
  EXPECT_TRUE(at("192.0.2.1").shares(at("203.0.113.1"), 0));
  EXPECT_TRUE(at("::1").is_same_host(at("::1")));
  EXPECT_FALSE(at("::1").is_same_host(at("::2")));
  EXPECT_FALSE(at("fe80::1%lo").is_same_host(at("fe80::1%4096")));
  EXPECT_FALSE(at("192.0.2.1").is_link_local());
  EXPECT_TRUE(at("fe80::1%lo").is_link_local());
  EXPECT_EQ(at("fe80::1%lo").text(), "[fe80::1%lo]:0");
}

std::string complaint(const std::string& host) {
  try {
    resolve({host, 0});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(SocketAddressTest, WantsToKnowTheLinkOfALinkLocalAddress) {
  EXPECT_THAT(complaint("fe80::1"), HasSubstr("as in [fe80::1%eth0]"));
  EXPECT_THAT(complaint("fe80::1%nosuch0"), HasSubstr("no network interface 'nosuch0'"));
  EXPECT_EQ(complaint("fe80::1%lo"), "");
}

TEST(FindDevice, SaysThatThereIsNone) {
  try {
    find_device({}, "mlx5_0");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no RDMA device 'mlx5_0'"));
  }
}

}  // namespace
}  // namespace rdmablk::cm
