#include "target/catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_catalog.h"

namespace rdmablk::target {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

Catalog large_catalog(int count) {
  Catalog catalog;
  for (int i = 0; i < count; ++i) catalog.add(sample_offer(fmt::format("export-{:04}", i)));
  return catalog;
}

TEST(CatalogTest, Finds) {
  const auto catalog = sample_catalog();
  ASSERT_NE(catalog.find("disk"), nullptr);
  EXPECT_EQ(catalog.find("disk")->info.name, "disk");
  EXPECT_EQ(catalog.find("Disk"), nullptr);
  EXPECT_EQ(catalog.find(""), nullptr);
}

TEST(CatalogTest, GivesAllPagesInOrder) {
  const auto catalog = large_catalog(100);
  std::string after;
  int seen = 0;
  for (bool more = true; more;) {
    const auto page = catalog.page(after);
    ASSERT_LE(page.exports.size(), protocol::ListReply::kMaxEntries);
    for (const auto& info : page.exports) {
      EXPECT_EQ(info.name, fmt::format("export-{:04}", seen++));
      after = info.name;
    }
    more = page.more;
  }
  EXPECT_EQ(seen, 100);
}

TEST(CatalogTest, AFullLastPagePromisesNoMore) {
  EXPECT_FALSE(large_catalog(protocol::ListReply::kMaxEntries).page("").more);
  EXPECT_TRUE(large_catalog(protocol::ListReply::kMaxEntries + 1).page("").more);
}

TEST(CatalogTest, BeginsBehindANameThatDoesNotExist) {
  const auto page = sample_catalog().page("f");
  ASSERT_EQ(page.exports.size(), 1U);
  EXPECT_EQ(page.exports[0].name, "rom");
}

TEST(CatalogTest, CutsALongListOfNames) {
  EXPECT_EQ(Catalog().names(), "none");
  EXPECT_EQ(sample_catalog().names(), "disk, rom");
  const auto names = large_catalog(500).names();
  EXPECT_LT(names.size(), 800U);
  EXPECT_THAT(names, StartsWith("export-0000, export-0001, "));
  EXPECT_THAT(names, EndsWith(" more"));
}

TEST(CatalogTest, GrantsByAccess) {
  const auto offer = sample_offer("disk");
  EXPECT_EQ(offer.grant(protocol::Access::read_only).table.rkey, 11U);
  EXPECT_EQ(offer.grant(protocol::Access::read_write).table.rkey, 22U);
}

TEST(CatalogTest, VoidGrantsShareNothing) {
  Catalog catalog = sample_catalog();
  Offer offer = sample_offer("disk");
  const auto shared = std::make_shared<int>();
  offer.read_only.owner = shared;
  offer.read_write->owner = shared;
  catalog.update(offer);
  offer = {};
  catalog.withdraw("disk");
  EXPECT_EQ(shared.use_count(), 3);
  catalog.void_grants();
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_FALSE(catalog.find_for_users("disk")->is_registered);
  EXPECT_FALSE(catalog.find_for_users("rom")->is_registered);
}

TEST(CatalogTest, WithdrawnOffersStayWhereTheyAre) {
  Catalog catalog = sample_catalog();
  const Offer* const disk = catalog.find("disk");
  catalog.withdraw("disk");
  EXPECT_EQ(catalog.find("disk"), nullptr);
  EXPECT_EQ(catalog.names(), "rom");
  EXPECT_EQ(catalog.find_withdrawn("disk"), disk);
  EXPECT_EQ(catalog.find_withdrawn("rom"), nullptr);
  catalog.restore("disk");
  EXPECT_EQ(catalog.find("disk"), disk);
  EXPECT_EQ(catalog.find_withdrawn("disk"), nullptr);
  catalog.withdraw("disk");
  catalog.remove("disk");
  EXPECT_EQ(catalog.find_withdrawn("disk"), nullptr);
  catalog.restore("disk");
  EXPECT_EQ(catalog.find("disk"), nullptr);
}

}  // namespace
}  // namespace rdmablk::target
