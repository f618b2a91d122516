#include "target/address_prefix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;

bool contains(const char* prefix, const char* address) {
  return AddressPrefix::parse(prefix).contains(asio::ip::make_address(address));
}

TEST(AddressPrefixTest, ContainsWhatBeginsWithItsBits) {
  EXPECT_TRUE(contains("192.0.2.0/24", "192.0.2.0"));
  EXPECT_TRUE(contains("192.0.2.0/24", "192.0.2.255"));
  EXPECT_FALSE(contains("192.0.2.0/24", "192.0.3.0"));
  EXPECT_TRUE(contains("192.0.2.128/25", "192.0.2.128"));
  EXPECT_FALSE(contains("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(contains("192.0.2.4/31", "192.0.2.5"));
  EXPECT_FALSE(contains("192.0.2.4/31", "192.0.2.6"));
  EXPECT_TRUE(contains("0.0.0.0/0", "255.255.255.255"));
  EXPECT_TRUE(contains("128.0.0.0/1", "200.0.0.1"));
  EXPECT_FALSE(contains("128.0.0.0/1", "127.255.255.255"));
  EXPECT_TRUE(contains("2001:db8::/32", "2001:db8:ffff::1"));
  EXPECT_FALSE(contains("2001:db8::/32", "2001:db9::1"));
  EXPECT_TRUE(contains("fe80::/10", "febf::1"));
  EXPECT_FALSE(contains("fe80::/10", "fec0::1"));
}

TEST(AddressPrefixTest, IsOneAddressWithoutBits) {
  EXPECT_TRUE(contains("192.0.2.1", "192.0.2.1"));
  EXPECT_FALSE(contains("192.0.2.1", "192.0.2.0"));
  EXPECT_TRUE(contains("2001:db8::1", "2001:db8::1"));
  EXPECT_FALSE(contains("2001:db8::1", "2001:db8::3"));
}

TEST(AddressPrefixTest, FamiliesDoNotMix) {
  EXPECT_FALSE(contains("0.0.0.0/0", "::1"));
  EXPECT_FALSE(contains("::/0", "192.0.2.1"));
  EXPECT_TRUE(contains("192.0.2.0/24", "::ffff:192.0.2.1"));
  EXPECT_FALSE(contains("::/0", "::ffff:192.0.2.1"));
  EXPECT_TRUE(contains("::ffff:192.0.2.1", "192.0.2.1"));
}

TEST(AddressPrefixTest, RefusesWhatIsNone) {
  for (const char* const wrong :
       {"", "/", "192.0.2", "192.0.2.1.1", "192.0.2.256", "192.0.2.0/", "192.0.2.0/33",
        "192.0.2.0/-1", "192.0.2.0/+8", "192.0.2.0/08x", "192.0.2.0/24/24", " 192.0.2.0",
        "2001:db8::/129", "::1%lo", "[::1]", "host", "192.0.2.0/18446744073709551624"}) {
    EXPECT_THAT(error_of([&] { AddressPrefix::parse(wrong); }), HasSubstr("is not a range"))
        << wrong;
  }
}

TEST(AddressPrefixTest, RefusesBitsBehindThePrefix) {
  EXPECT_THAT(error_of([] { AddressPrefix::parse("192.0.2.1/24"); }), HasSubstr("192.0.2.1/24"));
  EXPECT_THAT(error_of([] { AddressPrefix::parse("2001:db8::1/32"); }), HasSubstr("first 32"));
}

TEST(AddressOfTest, LeavesThePortOut) {
  EXPECT_EQ(address_of("192.0.2.1:10812"), asio::ip::make_address("192.0.2.1"));
  EXPECT_EQ(address_of("[2001:db8::1]:10812"), asio::ip::make_address("2001:db8::1"));
  EXPECT_FALSE(address_of("an unknown address"));
  EXPECT_FALSE(address_of(""));
}

}  // namespace
}  // namespace rdmablk::target
