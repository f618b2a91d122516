#include "target/exports_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sample_catalog.h"
#include "target/access_rules.h"

namespace rdmablk::target {
namespace {

using protocol::Access;

/// Exports "all", "alices", "bobs" (read-only for alice) and "near" (from 192.0.2.0/24).
class ExportsViewTest : public ::testing::Test {
 protected:
  ExportsViewTest() {
    add("all", {});
    add("alices", {"alice"});
    add("bobs", {"bob", "alice:ro"});
    add("near", {"*@192.0.2.0/24"});
    peer_.address = "198.51.100.1:4711";
  }

  void add(const std::string& name, std::initializer_list<const char*> rules) {
    auto& made = rules_.emplace_back(std::make_unique<AccessRules>());
    for (const char* const rule : rules) made->add(rule, name);
    Offer offer = sample_offer(name);
    offer.rules = made.get();
    catalog_.add(std::move(offer));
  }

  std::vector<std::unique_ptr<AccessRules>> rules_;
  Catalog catalog_;
  SessionPeer peer_;
  ExportsView view_{catalog_, peer_};
};

TEST_F(ExportsViewTest, ShowsWhatAClientMayHave) {
  peer_.client = "alice";
  EXPECT_EQ(view_.names(), "alices, all, bobs");
  EXPECT_NE(view_.find("alices"), nullptr);
  EXPECT_EQ(view_.find("near"), nullptr);
  EXPECT_EQ(view_.find("missing"), nullptr);
  peer_.client = "bob";
  EXPECT_EQ(view_.names(), "all, bobs");
  EXPECT_EQ(view_.find("alices"), nullptr);
}

TEST_F(ExportsViewTest, ShowsWhatAnAddressMayHave) {
  EXPECT_EQ(view_.names(), "all");
  peer_.address = "192.0.2.9:4711";
  EXPECT_EQ(view_.names(), "all, near");
}

TEST_F(ExportsViewTest, ListsThoseAloneAndAsTheyAreForThisClient) {
  peer_.client = "alice";
  const auto page = view_.page("");
  ASSERT_EQ(page.exports.size(), 3U);
  EXPECT_FALSE(page.exports[0].read_only);
  EXPECT_EQ(page.exports[2].name, "bobs");
  EXPECT_TRUE(page.exports[2].read_only);
  EXPECT_FALSE(page.more);
  EXPECT_TRUE(view_.may_write(*view_.find("alices")));
  EXPECT_FALSE(view_.may_write(*view_.find("bobs")));
}

TEST_F(ExportsViewTest, PagesDoNotShowThatThereAreOthers) {
  for (int i = 0; i < 100; ++i) add(fmt::format("hidden-{:04}", i), {"carol"});
  EXPECT_EQ(view_.page("").exports.size(), 1U);
  EXPECT_FALSE(view_.page("").more);
  EXPECT_EQ(view_.names(), "all");
  peer_.client = "carol";
  EXPECT_TRUE(view_.page("").more);
}

TEST_F(ExportsViewTest, QueuesComeFromAllowedAddressesToo) {
  peer_.address = "192.0.2.9:4711";
  const Offer& near = *view_.find("near");
  EXPECT_TRUE(view_.allows(near, Access::read_write, "192.0.2.10:1"));
  EXPECT_FALSE(view_.allows(near, Access::read_only, "198.51.100.1:1"));
}

TEST(ExportsViewWithoutRules, ShowsEverything) {
  const Catalog catalog = sample_catalog();
  const SessionPeer peer;
  const ExportsView view(catalog, peer);
  EXPECT_EQ(view.names(), "disk, rom");
  EXPECT_TRUE(view.may_write(*view.find("disk")));
  EXPECT_FALSE(view.may_write(*view.find("rom")));
}

}  // namespace
}  // namespace rdmablk::target
