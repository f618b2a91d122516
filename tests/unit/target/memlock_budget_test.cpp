#include "target/memlock_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/verbs/memory_region.h"
#include "error_of.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kTable = 4096;
constexpr std::uint64_t kSessions = 2 * kMiB;

TEST(MemlockBudgetTest, CountsEveryRegistration) {
  const auto writable = parse_export_specs({"a=memory:10M"});
  const auto read_only = parse_export_specs({"a=memory:10M,readonly"});
  EXPECT_EQ(pinned_bytes(read_only, 1), kSessions + 10 * kMiB + kTable);
  EXPECT_EQ(pinned_bytes(writable, 1), kSessions + 2 * (10 * kMiB + kTable));
  EXPECT_EQ(pinned_bytes(writable, 3), kSessions + 6 * (10 * kMiB + kTable));
}

TEST(MemlockBudgetTest, CountsResidentFilesByTheirSize) {
  auto specs = parse_export_specs(
      {"a=file:/a.img,resident", "b=file:/b.img,resident,readonly", "c=file:/c.img"});
  for (ExportSpec& spec : specs) spec.size = 10 * kMiB;
  EXPECT_EQ(pinned_bytes(specs, 1), kSessions + 3 * (10 * kMiB + kTable));
}

TEST(MemlockBudgetTest, CountsWholePages) {
  EXPECT_EQ(pinned_bytes(parse_export_specs({"a=memory:512,readonly"}), 1),
            kSessions + 4096 + kTable);
}

TEST(MemlockBudgetTest, AcceptsAnExactLimit) {
  const auto specs = parse_export_specs({"a=memory:10M", "b=memory:1M,readonly"});
  const auto needed = pinned_bytes(specs, 1);
  EXPECT_NO_THROW(check_memlock(specs, 1, needed));
  EXPECT_THROW(check_memlock(specs, 1, needed - 1), verbs::MemlockError);
}

TEST(MemlockBudgetTest, SaysWhatToDo) {
  const auto specs = parse_export_specs({"a=memory:10M"});
  const std::string kilobytes = std::to_string(pinned_bytes(specs, 1) / 1024);
  EXPECT_THAT(error_of<Error>([&] { check_memlock(specs, 1, 65536); }),
              AllOf(HasSubstr("ulimit -l " + kilobytes), HasSubstr("LimitMEMLOCK=")));
}

}  // namespace
}  // namespace rdmablk::target
