#include "common/cm/tcp/place_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "common/cm/tcp/gid.h"

namespace rdmablk::cm::tcp {
namespace {

using ::testing::HasSubstr;

/// A link-local address takes an interface, which its GID does not tell.
SocketAddress address(const std::string& text) {
  const bool is_link_local = text.starts_with("fe") && text[2] >= '8' && text[2] <= 'b';
  return resolve({is_link_local ? text + "%lo" : text, 1}).front();
}

/// Two devices that cannot do anything.
class PlaceChoiceTest : public ::testing::Test {
 protected:
  PlaceChoiceTest() {
    name(first_device_, "mlx5_0");
    name(second_device_, "mlx5_1");
    first_.device = &first_device_;
    second_.device = &second_device_;
  }

  static void name(ibv_device& device, const char* text) {
    std::strncpy(device.name, text, sizeof device.name - 1);
  }

  void add(ibv_context& device, std::uint8_t index, const std::string& gid,
           std::uint8_t type = IBV_GID_TYPE_ROCE_V2) {
    PortPlace place;
    place.device = &device;
    place.gid_index = index;
    place.gid_type = type;
    place.gid = std::bit_cast<ibv_gid>(*gid_of(address(gid)));
    if (type == IBV_GID_TYPE_IB) place.link_layer = IBV_LINK_LAYER_INFINIBAND;
    places_.places.push_back(place);
  }

  /// What a connecting end chooses.
  PlaceChoice from(const std::string& local, const std::string& remote) const {
    const SocketAddress here = address(local);
    const SocketAddress there = address(remote);
    return choose_place(places_, settings_, {&here, &there, nullptr});
  }

  /// What an accepting end chooses.
  PlaceChoice answer(const std::string& local, const Endpoint& peer) const {
    const SocketAddress here = address(local);
    return choose_place(places_, settings_, {&here, nullptr, &peer});
  }

  static Endpoint peer(const std::string& gid, std::uint8_t type = IBV_GID_TYPE_ROCE_V2) {
    Endpoint endpoint;
    endpoint.gid = *gid_of(address(gid));
    endpoint.gid_type = type;
    endpoint.link_layer =
        type == IBV_GID_TYPE_IB ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
    return endpoint;
  }

  ibv_device first_device_{};
  ibv_device second_device_{};
  ibv_context first_{};
  ibv_context second_{};
  PortPlaces places_;
  Settings settings_;
};

TEST_F(PlaceChoiceTest, PrefersTheAddressOfTheTcpConnection) {
  add(first_, 0, "192.0.2.1");
  add(second_, 0, "198.51.100.1");
  EXPECT_EQ(from("198.51.100.1", "198.51.100.2").place->device, &second_);
  EXPECT_EQ(from("192.0.2.1", "192.0.2.2").place->device, &first_);
}

TEST_F(PlaceChoiceTest, PrefersTheSecondVersionOfRoce) {
  add(first_, 0, "192.0.2.1", IBV_GID_TYPE_ROCE_V1);
  add(first_, 1, "192.0.2.1", IBV_GID_TYPE_ROCE_V2);
  EXPECT_EQ(from("192.0.2.1", "192.0.2.2").place->gid_index, 1);
}

TEST_F(PlaceChoiceTest, TakesTheFirstVersionWhereThereIsNoOther) {
  add(first_, 0, "192.0.2.1", IBV_GID_TYPE_ROCE_V1);
  EXPECT_EQ(from("192.0.2.1", "192.0.2.2").place->gid_index, 0);
}

TEST_F(PlaceChoiceTest, PrefersTheFamilyOfThePeer) {
  add(first_, 0, "fe80::1");
  add(first_, 1, "192.0.2.1");
  add(first_, 2, "2001:db8::1");
  EXPECT_EQ(from("203.0.113.1", "203.0.113.2").place->gid_index, 1);
  EXPECT_EQ(from("2001:db8:1::1", "2001:db8:1::2").place->gid_index, 2);
}

TEST_F(PlaceChoiceTest, PrefersTheNetworkOfThePeer) {
  add(first_, 0, "192.0.2.1");
  add(second_, 0, "198.51.100.1");
  // The TCP connection goes over a network of its own.
  EXPECT_EQ(answer("203.0.113.1", peer("198.51.100.9")).place->device, &second_);
  EXPECT_EQ(answer("203.0.113.1", peer("192.0.2.9")).place->device, &first_);
}

TEST_F(PlaceChoiceTest, FollowsThePeerToAnotherNetworkThanTheTcpConnections) {
  add(first_, 0, "192.0.2.1");
  add(second_, 0, "198.51.100.1");
  const SocketAddress here = address("192.0.2.1");
  const SocketAddress there = address("192.0.2.9");
  const auto device_for = [&](const char* gid) {
    const Endpoint other = peer(gid);
    return choose_place(places_, settings_, {&here, &there, &other}).place->device;
  };
  EXPECT_EQ(device_for("198.51.100.9"), &second_);
  EXPECT_EQ(device_for("192.0.2.9"), &first_);
}

TEST_F(PlaceChoiceTest, KeepsALinkLocalAddressForItsLink) {
  add(first_, 0, "fe80::1");
  add(first_, 1, "192.0.2.1");
  EXPECT_EQ(from("fe80::1", "fe80::2").place->gid_index, 0);
  // The TCP connection goes over another link.
  EXPECT_EQ(from("fe80::3", "fe80::2").place->gid_index, 1);
}

TEST_F(PlaceChoiceTest, AnswersFromTheVersionOfRoceThatThePeerSpeaks) {
  add(first_, 0, "192.0.2.1", IBV_GID_TYPE_ROCE_V1);
  add(first_, 1, "192.0.2.1", IBV_GID_TYPE_ROCE_V2);
  EXPECT_EQ(answer("192.0.2.1", peer("192.0.2.2", IBV_GID_TYPE_ROCE_V1)).place->gid_index, 0);
  EXPECT_EQ(answer("192.0.2.1", peer("192.0.2.2", IBV_GID_TYPE_ROCE_V2)).place->gid_index, 1);
}

TEST_F(PlaceChoiceTest, AnswersFromTheFamilyOfThePeerOrNot) {
  add(first_, 0, "2001:db8::1");
  const auto choice = answer("2001:db8::1", peer("192.0.2.2"));
  EXPECT_FALSE(choice.place);
  EXPECT_THAT(choice.why, HasSubstr("mlx5_0 has no address that reaches ::ffff:192.0.2.2"));
  // Who names the address knows.
  settings_.gid_index = 0;
  EXPECT_TRUE(answer("2001:db8::1", peer("192.0.2.2")).place);
}

TEST_F(PlaceChoiceTest, SaysThatNetworksDiffer) {
  add(first_, 0, "192.0.2.1");
  const auto choice = answer("192.0.2.1", peer("fe80::1", IBV_GID_TYPE_IB));
  EXPECT_FALSE(choice.place);
  EXPECT_EQ(choice.why, "mlx5_0 is for RoCE v2, and the other end for InfiniBand");
}

TEST_F(PlaceChoiceTest, MindsNoFamiliesOnInfiniband) {
  add(first_, 0, "fe80::5", IBV_GID_TYPE_IB);
  EXPECT_TRUE(answer("192.0.2.1", peer("fec0::1", IBV_GID_TYPE_IB)).place);
  EXPECT_TRUE(from("192.0.2.1", "192.0.2.2").place);
}

TEST_F(PlaceChoiceTest, TakesTheFirstOfEquals) {
  add(first_, 0, "192.0.2.1");
  add(second_, 0, "192.0.2.1");
  EXPECT_EQ(from("203.0.113.1", "203.0.113.2").place->device, &first_);
}

TEST_F(PlaceChoiceTest, PassesOnWhatSpeaksAgainstTheOthers) {
  places_.others = "port 1 of mlx5_0 is down";
  EXPECT_EQ(from("192.0.2.1", "192.0.2.2").why, "port 1 of mlx5_0 is down");
  add(second_, 0, "192.0.2.1");
  EXPECT_EQ(from("192.0.2.1", "192.0.2.2").why, "");
}

TEST(GidTest, ComparesAddresses) {
  const auto gid = [](const char* text) { return *gid_of(address(text)); };
  EXPECT_EQ(common_prefix(gid("192.0.2.1"), gid("192.0.2.1")), 128);
  EXPECT_EQ(common_prefix(gid("192.0.2.1"), gid("192.0.2.3")), 126);
  EXPECT_EQ(common_prefix(gid("::"), gid("8000::")), 0);
  EXPECT_EQ(family_of(gid("192.0.2.1")), GidFamily::ipv4);
  EXPECT_EQ(family_of(gid("fe80::1")), GidFamily::link_local);
  EXPECT_EQ(family_of(gid("febf::1")), GidFamily::link_local);
  EXPECT_EQ(family_of(gid("fec0::1")), GidFamily::global);
  EXPECT_EQ(gid_text(gid("192.0.2.1")), "::ffff:192.0.2.1");
}

}  // namespace
}  // namespace rdmablk::cm::tcp
