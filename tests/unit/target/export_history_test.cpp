#include "target/export_history.h"

#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

ExportStatus with(const std::string& name, unsigned generation, std::uint64_t lease = 0) {
  ExportStatus status;
  status.spec.name = name;
  status.generation[0] = std::byte(generation);
  status.lease = lease;
  return status;
}

TEST(ExportHistory, CountsGenerations) {
  ExportHistory history;
  history.look({with("a", 1), with("b", 1)});
  history.look({with("a", 1), with("b", 2)});
  history.look({with("a", 1), with("b", 3)});
  EXPECT_EQ(history.entries().at("a").generations, 0U);
  EXPECT_EQ(history.entries().at("b").generations, 2U);
}

TEST(ExportHistory, CountsLeasesWhateverTheyAreNumberedFrom) {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 60U;
  ExportHistory history;
  history.look({with("a", 1)});
  history.look({with("a", 1, kFirst)});
  history.look({with("a", 1, kFirst + 3)});
  history.look({with("a", 1, kFirst + 3)});
  EXPECT_EQ(history.entries().at("a").leases, 4U);
}

TEST(ExportHistory, ForgetsExportsThatAreGone) {
  ExportHistory history;
  history.look({with("a", 1)});
  history.look({});
  EXPECT_TRUE(history.entries().empty());
  history.look({with("a", 2)});
  EXPECT_EQ(history.entries().at("a").generations, 0U);
}

}  // namespace
}  // namespace rdmablk::target
