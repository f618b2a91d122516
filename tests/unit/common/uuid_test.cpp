#include "common/uuid.h"

#include <gtest/gtest.h>

#include <set>

namespace rdmablk {
namespace {

TEST(Uuid, IsFormattedInFiveGroups) {
  protocol::Uuid uuid{};
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<std::byte>(i * 17);
  EXPECT_EQ(format_uuid(uuid), "00112233-4455-6677-8899-aabbccddeeff");
}

TEST(Uuid, IsRead) {
  const auto uuid = make_uuid();
  const std::string text = format_uuid(uuid);
  EXPECT_EQ(parse_uuid(text), uuid);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char* wrong : {"", "g", "--", " ", "A"}) {
      EXPECT_FALSE(parse_uuid(std::string(text).replace(i, 1, wrong))) << i << " " << wrong;
    }
  }
}

TEST(Uuid, IsOfVersion4) {
  for (int i = 0; i < 100; ++i) {
    const std::string text = format_uuid(make_uuid());
    ASSERT_EQ(text.size(), 36U);
    EXPECT_EQ(text[14], '4') << text;
    EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos) << text;
  }
}

TEST(Uuid, IsAnotherEachTime) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(format_uuid(make_uuid()));
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace rdmablk
