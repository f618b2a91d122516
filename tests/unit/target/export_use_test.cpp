#include "target/export_use.h"

#include <gtest/gtest.h>

#include <optional>

namespace rdmablk::target {
namespace {

TEST(ExportUseTest, IsUnusedWhenTheLastQueueIsGone) {
  ExportUse use;
  int told = 0;
  std::optional<ExportUse::Hold> attachment(use.attach(false));
  std::optional<ExportUse::Hold> queue(use.hold());
  EXPECT_EQ(use.attachments(), 1U);
  use.when_unused([&] { ++told; });
  attachment.reset();
  EXPECT_EQ(use.attachments(), 0U);
  EXPECT_TRUE(use.is_used());
  EXPECT_EQ(told, 0);
  queue.reset();
  EXPECT_FALSE(use.is_used());
  EXPECT_EQ(told, 1);
  queue.emplace(use.hold());
  queue.reset();
  EXPECT_EQ(told, 1) << "once";
}

TEST(ExportUseTest, TellsAtOnceWhenNobodyUsesIt) {
  ExportUse use;
  int told = 0;
  use.when_unused([&] { ++told; });
  EXPECT_EQ(told, 1);
}

TEST(ExportUseTest, RemembersThatSomebodyCouldWrite) {
  ExportUse use;
  use.attach(false);
  EXPECT_FALSE(use.was_writable());
  use.attach(true);
  EXPECT_TRUE(use.was_writable());
  EXPECT_EQ(use.attachments(), 0U);
}

TEST(ExportUseTest, HoldsMove) {
  ExportUse use;
  ExportUse::Hold first = use.attach(true);
  {
    const ExportUse::Hold second = std::move(first);
    EXPECT_EQ(use.attachments(), 1U);
  }
  EXPECT_FALSE(use.is_used());
}

}  // namespace
}  // namespace rdmablk::target
