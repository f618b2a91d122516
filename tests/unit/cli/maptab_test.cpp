#include "initiator/cli/mapping/maptab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::cli::mapping {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Maptab parsed(std::string_view text) {
  return parse_maptab(text, "maptab");
}

TEST(Maptab, ReadsLines) {
  const Maptab table = parsed(
      "# a comment\n"
      "\n"
      "data rdmablk://storage1/data keyfile=/etc/key,give_up=never\n"
      "\t scratch\trdmablk://[fd00::1]:99/scratch \t noauto,ro \n"
      "plain rdmablk://storage1/plain\r\n"
      "dash rdmablk://storage1/dash -\n"
      "same rdmablk://storage1/same defaults");
  EXPECT_THAT(table.errors, IsEmpty());
  ASSERT_EQ(table.entries.size(), 5U);
  EXPECT_EQ(table.entries[0].name, "data");
  EXPECT_EQ(table.entries[0].uri.text(), "rdmablk://storage1:10812/data");
  EXPECT_EQ(table.entries[0].options, "keyfile=/etc/key,give_up=never");
  EXPECT_TRUE(table.entries[0].is_automatic);
  EXPECT_EQ(table.entries[1].uri.text(), "rdmablk://[fd00::1]:99/scratch");
  EXPECT_EQ(table.entries[1].options, "noauto,ro");
  EXPECT_FALSE(table.entries[1].is_automatic);
  for (std::size_t i : {2, 3, 4}) EXPECT_EQ(table.entries[i].options, "");
  EXPECT_EQ(table.find("scratch"), &table.entries[1]);
  EXPECT_EQ(table.find("nothing"), nullptr);
}

TEST(Maptab, TakesThePortFromTheWayToConnect) {
  const Maptab table = parsed(
      "a rdmablk://storage1/disk ro,cm=tcp,device=mlx5_0\n"
      "b rdmablk://storage1/disk ro\n"
      "c rdmablk://storage1:99/disk cm=tcp\n");
  EXPECT_THAT(table.errors, IsEmpty());
  ASSERT_EQ(table.entries.size(), 3U);
  EXPECT_EQ(table.entries[0].uri.text(), "rdmablk://storage1:10813/disk");
  EXPECT_EQ(table.entries[0].options, "ro,cm=tcp,device=mlx5_0");
  EXPECT_EQ(table.entries[1].uri.text(), "rdmablk://storage1:10812/disk");
  EXPECT_EQ(table.entries[2].uri.text(), "rdmablk://storage1:99/disk");
}

TEST(Maptab, NamesTheLinesThatMakeNoSense) {
  const Maptab table = parsed(
      "good rdmablk://h/a\n"
      "alone\n"
      "a/b rdmablk://h/b\n"
      "http http://h/c\n"
      "good rdmablk://h/d\n"
      "twice rdmablk://h:10812/a\n"
      "blanks rdmablk://h/e ro, noauto\n"
      "last rdmablk://h/f\n");
  EXPECT_THAT(
      table.errors,
      ElementsAre(HasSubstr("maptab:2: a line is NAME URI [OPTIONS]; the URI is missing"),
                  HasSubstr("maptab:3: 'a/b' is not a name"),
                  HasSubstr("maptab:4: 'http://h/c' is not a URI"),
                  HasSubstr("maptab:5: 'good' is the name of an earlier line"),
                  HasSubstr("maptab:6: rdmablk://h:10812/a is in an earlier line"),
                  HasSubstr("maptab:7: a line is NAME URI [OPTIONS]; 'noauto' is too many")));
  ASSERT_EQ(table.entries.size(), 2U);
  EXPECT_EQ(table.entries[1].name, "last");
}

TEST(Maptab, HasNoEndOfErrors) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "x\n";
  EXPECT_EQ(parsed(text).errors.size(), 100U);
}

TEST(Maptab, IsEmptyWhenThereIsNone) {
  EXPECT_THAT(read_maptab("/nowhere/maptab").entries, IsEmpty());
  EXPECT_THROW(read_maptab("/proc/self/mem"), Error);
}

}  // namespace
}  // namespace rdmablk::cli::mapping
