#include "common/auth/hmac.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rdmablk::auth {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return text;
}

std::string hmac(std::string_view key, std::string_view data) {
  return hex(hmac_sha256(bytes_of(key), {bytes_of(data)}));
}

// The test cases of RFC 4231 that are not truncated.
TEST(Hmac, GivesWhatRfc4231Expects) {
  EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (char c = 1; c <= 25; ++c) counting += c;
  EXPECT_EQ(hmac(counting, std::string(50, '\xcd')),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  EXPECT_EQ(
      hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(hmac(std::string(131, '\xaa'),
                 "This is a test using a larger than block-size key and a larger than block-size "
                 "data. The key needs to be hashed before being used by the HMAC algorithm."),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, JoinsItsParts) {
  EXPECT_EQ(hmac_sha256(bytes_of("key"), {bytes_of("one"), bytes_of(""), bytes_of("two")}),
            hmac_sha256(bytes_of("key"), {bytes_of("onetwo")}));
}

TEST(EqualInConstantTime, SeesEveryBit) {
  const Digest digest = hmac_sha256(bytes_of("key"), {bytes_of("data")});
  EXPECT_TRUE(equal_in_constant_time(digest, Digest(digest)));
  for (std::size_t bit = 0; bit < 8 * digest.size(); ++bit) {
    Digest other = digest;
    other[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(equal_in_constant_time(digest, other)) << bit;
  }
}

}  // namespace
}  // namespace rdmablk::auth
