#include "target/generation_watch.h"

#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

ExportStatus with(const std::string& name, unsigned generation) {
  ExportStatus status;
  status.spec.name = name;
  status.generation[0] = std::byte(generation);
  return status;
}

TEST(GenerationWatch, CountsChanges) {
  GenerationWatch watch;
  watch.look({with("a", 1), with("b", 1)});
  watch.look({with("a", 1), with("b", 2)});
  watch.look({with("a", 1), with("b", 3)});
  EXPECT_EQ(watch.changes().at("a"), 0U);
  EXPECT_EQ(watch.changes().at("b"), 2U);
}

TEST(GenerationWatch, ForgetsExportsThatAreGone) {
  GenerationWatch watch;
  watch.look({with("a", 1)});
  watch.look({});
  EXPECT_TRUE(watch.changes().empty());
  watch.look({with("a", 2)});
  EXPECT_EQ(watch.changes().at("a"), 0U);
}

}  // namespace
}  // namespace rdmablk::target
