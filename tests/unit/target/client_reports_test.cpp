#include "target/client_reports.h"

#include <gtest/gtest.h>

#include <limits>

namespace rdmablk::target {
namespace {

TEST(ClientReports, AddUpByExportAndClient) {
  ClientReports reports;
  reports.add("disk", "alice", {.reads = 1});
  reports.add("disk", "alice", {.reads = 2});
  reports.add("disk", "bob", {.reads = 4});
  reports.add("other", "alice", {.reads = 8});
  EXPECT_EQ(reports.all().at({"disk", "alice"}).reads, 3U);
  EXPECT_EQ(reports.all().at({"disk", "bob"}).reads, 4U);
  EXPECT_EQ(reports.of_export("disk").reads, 7U);
  EXPECT_EQ(reports.all().at({"other", "alice"}).reads, 8U);
}

TEST(ClientReports, HoweverLargeDoNotGoRound) {
  ClientReports reports;
  for (int i = 0; i < 3; ++i) {
    reports.add("disk", "alice", {.bytes_read = std::numeric_limits<std::uint64_t>::max()});
  }
  EXPECT_EQ(reports.all().at({"disk", "alice"}).bytes_read,
            std::numeric_limits<std::uint64_t>::max());
}

TEST(ClientReports, TellNoMoreThanSomeApart) {
  ClientReports reports;
  for (std::size_t i = 0; i < 3 * ClientReports::kMaxEntries; ++i) {
    reports.add("disk", "client" + std::to_string(i), {.reads = 1});
  }
  EXPECT_EQ(reports.all().size(), ClientReports::kMaxEntries + 1);
  EXPECT_EQ(reports.all().at({"disk", ClientReports::kOthers}).reads,
            2 * ClientReports::kMaxEntries);
  for (std::size_t i = 0; i < 3 * ClientReports::kMaxEntries; ++i) {
    reports.add("disk" + std::to_string(i), "alice", {.reads = 1});
  }
  EXPECT_LE(reports.all().size(), 2 * ClientReports::kMaxEntries);
}

TEST(ClientReports, OfAnExportThatIsGoneAreForgotten) {
  ClientReports reports;
  reports.add("disk", "alice", {.reads = 1});
  reports.add("disk2", "alice", {.reads = 1});
  reports.keep_if([](const std::string& name) { return name == "disk2"; });
  EXPECT_EQ(reports.all().size(), 1U);
  EXPECT_TRUE(reports.all().contains({"disk2", "alice"}));
}

}  // namespace
}  // namespace rdmablk::target
