#include "target/access_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "error_of.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const auto kInside = asio::ip::make_address("192.0.2.7");
const auto kOutside = asio::ip::make_address("198.51.100.7");

AccessRules rules_of(std::initializer_list<const char*> texts) {
  AccessRules rules;
  for (const char* const text : texts) rules.add(text, "disk");
  return rules;
}

TEST(AccessRulesTest, WithoutAnyEverybodyMay) {
  EXPECT_EQ(AccessRules().access_of("alice", kInside), Access::read_write);
  EXPECT_EQ(AccessRules().access_of("", std::nullopt), Access::read_write);
}

TEST(AccessRulesTest, NameClients) {
  const auto rules = rules_of({"alice", "bob:ro"});
  EXPECT_EQ(rules.access_of("alice", kInside), Access::read_write);
  EXPECT_EQ(rules.access_of("bob", kInside), Access::read_only);
  for (const char* const other : {"", "Alice", "alic", "alice2", "*"}) {
    EXPECT_FALSE(rules.access_of(other, kInside)) << other;
  }
}

TEST(AccessRulesTest, NameAddresses) {
  const auto rules = rules_of({"*:ro@192.0.2.0/24", "bob:rw@198.51.100.7"});
  EXPECT_EQ(rules.access_of("alice", kInside), Access::read_only);
  EXPECT_EQ(rules.access_of("", kInside), Access::read_only);
  EXPECT_FALSE(rules.access_of("alice", kOutside));
  EXPECT_FALSE(rules.access_of("alice", std::nullopt));
  EXPECT_EQ(rules.access_of("bob", kOutside), Access::read_write);
}

TEST(AccessRulesTest, TakeAddressesOfIpv6) {
  const auto rules = rules_of({"alice:rw@2001:db8::/32"});
  EXPECT_EQ(rules.access_of("alice", asio::ip::make_address("2001:db8::7")), Access::read_write);
  EXPECT_FALSE(rules.access_of("alice", kInside));
}

TEST(AccessRulesTest, TheMostGenerousOneCounts) {
  const auto rules = rules_of({"alice:rw@192.0.2.0/24", "alice:ro", "*:ro"});
  EXPECT_EQ(rules.access_of("alice", kInside), Access::read_write);
  EXPECT_EQ(rules.access_of("alice", kOutside), Access::read_only);
  EXPECT_EQ(rules.access_of("bob", kOutside), Access::read_only);
}

TEST(AccessRulesTest, TellWhomTheyName) {
  EXPECT_THAT(rules_of({"alice", "*", "bob:ro@::1"}).clients(), ElementsAre("alice", "bob"));
}

TEST(AccessRulesTest, RefuseWhatIsNone) {
  for (const char* const wrong : {"", ":ro", "@192.0.2.1", "alice:", "alice:r", "alice:RW",
                                  "alice:rw:ro", "al ice", "-alice", "**", "alice:rw@"}) {
    EXPECT_NE(error_of([&] { rules_of({wrong}); }), "") << wrong;
  }
  EXPECT_THAT(error_of([] { rules_of({"alice:w"}); }),
              AllOf(HasSubstr("'disk'"), HasSubstr("'alice:w'"), HasSubstr("allow=CLIENT")));
}

}  // namespace
}  // namespace rdmablk::target
