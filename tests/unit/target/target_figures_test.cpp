#include "target/target_figures.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace rdmablk::target {
namespace {

using testing::HasSubstr;
using testing::Not;

ExportStatus export_of(const std::string& name, protocol::ExportKind kind) {
  ExportStatus status;
  status.spec.name = name;
  status.spec.kind = kind;
  status.size = 1U << 20U;
  status.readers = 2;
  status.writers = 1;
  status.lease = std::uint64_t{1} << 60U;
  return status;
}

TargetFigures figures() {
  TargetFigures figures;
  figures.exports = {export_of("ram", protocol::ExportKind::memory),
                     export_of("disk", protocol::ExportKind::file)};
  figures.exports[0].reported = {.reads = 9};
  metrics::IoCounters counters;
  counters.begin(metrics::IoKind::write);
  counters.end(metrics::IoKind::write, 4096, 0, std::chrono::microseconds(70));
  metrics::LatencyHistogram syncs;
  syncs.add(std::chrono::milliseconds(3));
  figures.exports[1].file = FileFigures{counters.figures(), syncs.figures()};
  SessionStatus session;
  session.id = 7;
  session.address = "192.0.2.1:4711";
  session.client = "alice";
  session.attachments = {{"ram", protocol::Access::read_write, 2, {.reads = 9}}};
  figures.sessions = {session};
  figures.counts.sessions = 1;
  figures.counters.refused = 3;
  figures.reports[{"ram", "alice"}] = {.reads = 9, .bytes_read = 36864, .errors = 1};
  figures.history["ram"] = {.generations = 1, .leases = 5};
  return figures;
}

TEST(TargetFigures, AreMetrics) {
  const std::string text = figures().metrics();
  for (const char* line :
       {"rdmablk_target_exports 2\n", "rdmablk_target_sessions 1\n",
        "rdmablk_target_refused_connections_total 3\n",
        "rdmablk_export_size_bytes{export=\"ram\"} 1048576\n",
        "rdmablk_export_attachments{export=\"disk\",access=\"read_only\"} 2\n",
        "rdmablk_export_attachments{export=\"disk\",access=\"read_write\"} 1\n",
        "rdmablk_export_leases_granted_total{export=\"ram\"} 5\n",
        "rdmablk_export_generation_changes_total{export=\"ram\"} 1\n",
        "rdmablk_export_generation_changes_total{export=\"disk\"} 0\n",
        "rdmablk_export_requests_total{export=\"disk\",operation=\"write\"} 1\n",
        "rdmablk_export_sync_duration_seconds_count{export=\"disk\"} 1\n",
        "rdmablk_client_reported_requests_total{export=\"ram\",client=\"alice\",operation=\"read\"}"
        " 9\n",
        "rdmablk_client_reported_bytes_total{export=\"ram\",client=\"alice\",operation=\"read\"} "
        "36864\n",
        "rdmablk_client_reported_errors_total{export=\"ram\",client=\"alice\"} 1\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("rdmablk_export_requests_total{export=\"ram\"")));
  EXPECT_THAT(text, Not(HasSubstr("192.0.2.1"))) << "an address is no label";
}

TEST(TargetFigures, AreStatus) {
  const auto json = nlohmann::json::parse(figures().status());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["program"], "rdmablk-target");
  EXPECT_EQ(json["exports"][0]["reported"]["reads"], 9);
  EXPECT_FALSE(json["exports"][0].contains("io"));
  EXPECT_EQ(json["exports"][1]["io"]["write"]["bytes"], 4096);
  EXPECT_EQ(json["exports"][1]["syncs"]["count"], 1);
  EXPECT_EQ(json["sessions"][0]["client"], "alice");
  EXPECT_EQ(json["sessions"][0]["attachments"][0]["reported"]["reads"], 9);
}

}  // namespace
}  // namespace rdmablk::target
