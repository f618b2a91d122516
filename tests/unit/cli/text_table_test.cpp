#include "initiator/cli/text_table.h"

#include <gtest/gtest.h>

namespace rdmablk::cli {
namespace {

TEST(TextTable, MakesColumnsAsWideAsTheyMustBe) {
  TextTable table({"A", "LONG"});
  table.add({"wide", "b"});
  EXPECT_EQ(table.text(), "A     LONG\nwide  b\n");
}

TEST(TextTable, PutsNumbersInLineAtTheirEnds) {
  TextTable table({"", "IOPS"});
  table.align_right(1);
  table.add({"read", "7"});
  table.add({"write", "12345"});
  EXPECT_EQ(table.text(), "        IOPS\nread       7\nwrite  12345\n");
}

}  // namespace
}  // namespace rdmablk::cli
