#include "common/auth/key.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>

namespace rdmablk::auth {
namespace {

const std::string kText =
    "rdmablk-key-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff";

TEST(Key, IsReadFromItsText) {
  const auto key = Key::parse(kText);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->bytes()[0], std::byte{0});
  EXPECT_EQ(key->bytes()[10], std::byte{10});
  EXPECT_EQ(key->bytes()[31], std::byte{0xff});
  EXPECT_EQ(key->text().view(), kText);
}

TEST(Key, TakesCapitals) {
  std::string text = kText;
  text.replace(text.size() - 2, 2, "FF");
  EXPECT_EQ(Key::parse(text), Key::parse(kText));
}

TEST(Key, RefusesWhatIsNoKey) {
  EXPECT_FALSE(Key::parse(""));
  EXPECT_FALSE(Key::parse(kText.substr(0, kText.size() - 1)));
  EXPECT_FALSE(Key::parse(kText + "0"));
  EXPECT_FALSE(Key::parse(kText.substr(14)));
  EXPECT_FALSE(Key::parse("rdmablk-key-2:" + kText.substr(14)));
  for (const char wrong : {'g', 'G', '/', ':', '@', '`', ' ', '\0', '\x80'}) {
    for (const std::size_t place : {std::size_t{14}, kText.size() - 1}) {
      std::string text = kText;
      text[place] = wrong;
      EXPECT_FALSE(Key::parse(text)) << place << " " << wrong;
    }
  }
}

TEST(Key, NewOnesDiffer) {
  EXPECT_FALSE(Key::generate() == Key::generate());
}

TEST(Key, IsWipedWhenItGoes) {
  alignas(Key) std::array<unsigned char, sizeof(Key)> place;
  const Key* const key = new (place.data()) Key(*Key::parse(kText));
  EXPECT_EQ(place[31], 0xff);
  std::destroy_at(key);
  // Through a pointer that the compiler does not follow: the object is gone.
  const volatile unsigned char* const looked_at = place.data();
  for (std::size_t i = 0; i < place.size(); ++i) EXPECT_EQ(looked_at[i], 0) << i;
}

TEST(SecretText, ForgetsWhatIsCutOff) {
  SecretText text("secret");
  text.shrink(2);
  EXPECT_EQ(text.view(), "se");
  EXPECT_EQ(text.view().data()[2], '\0');  // the room is still its own
}

}  // namespace
}  // namespace rdmablk::auth
