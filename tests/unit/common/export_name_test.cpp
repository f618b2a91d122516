#include "common/export_name.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmablk {
namespace {

TEST(ExportName, TakesLettersDigitsAndThreeMarks) {
  for (const char* name : {"a", "0", "Disk", "disk.0", "a-b_c.d", "Z9"}) {
    EXPECT_TRUE(is_export_name(name)) << name;
  }
}

TEST(ExportName, RefusesEverythingElse) {
  for (const char* name : {"", ".a", "-a", "_a", "a/b", "a b", "..", "a\n", "\xc3\xa4", "a,b"}) {
    EXPECT_FALSE(is_export_name(name)) << "'" << name << "'";
  }
  EXPECT_FALSE(is_export_name(std::string_view("a\0b", 3)));
}

TEST(ExportName, HasAtMost63Bytes) {
  EXPECT_TRUE(is_export_name(std::string(63, 'a')));
  EXPECT_FALSE(is_export_name(std::string(64, 'a')));
}

}  // namespace
}  // namespace rdmablk
