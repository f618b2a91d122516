#include <chrono>

#include "common/metrics/status_json.h"
#include "common/protocol/labels.h"
#include "common/seconds.h"
#include "common/uuid.h"
#include "target/target_figures.h"

namespace rdmablk::target {
namespace {

using metrics::Json;

Json describe(const protocol::Use& use) {
  return {{"reads", use.reads},           {"writes", use.writes},
          {"flushes", use.flushes},       {"others", use.others},
          {"bytes_read", use.bytes_read}, {"bytes_written", use.bytes_written},
          {"errors", use.errors}};
}

Json describe(const ExportStatus& one) {
  Json object{{"name", one.spec.name},         {"type", label_of(one.spec.kind)},
              {"size_bytes", one.size},        {"read_only", one.spec.read_only},
              {"uuid", format_uuid(one.uuid)}, {"registered_bytes", one.registered_bytes},
              {"readers", one.readers},        {"writers", one.writers},
              {"leaving", one.is_leaving},     {"reported", describe(one.reported)}};
  if (one.file) {
    object["io"] = metrics::io_json(one.file->io);
    object["syncs"] = {{"count", one.file->syncs.count()},
                       {"time_s", in_seconds(one.file->syncs.sum)}};
  }
  return object;
}

Json describe(const SessionStatus& one) {
  Json object{{"session", one.id},           {"address", one.address},
              {"client", one.client},        {"device", one.device},
              {"age_s", one.age.count()},    {"silence_ms", one.silence.count()},
              {"attachments", Json::array()}};
  for (const AttachmentStatus& attachment : one.attachments) {
    object["attachments"].push_back({{"export", attachment.export_name},
                                     {"access", label_of(attachment.access)},
                                     {"queues", attachment.queues},
                                     {"reported", describe(attachment.reported)}});
  }
  return object;
}

}  // namespace

std::string TargetFigures::status() const {
  Json document = metrics::new_status("rdmablk-target");
  document["uptime_s"] = in_seconds(uptime);
  document["target"] = {{"sessions", counts.sessions},
                        {"attachments", counts.attachments},
                        {"io_queues", counts.io_queues},
                        {"leases", counts.leases},
                        {"registered_bytes", counts.footprint.bytes},
                        {"slot_memory_bytes", slot_memory},
                        {"slot_memory_limit_bytes", slot_memory_limit},
                        {"refused_connections", counters.refused},
                        {"evictions", counters.evictions}};
  document["exports"] = Json::array();
  for (const ExportStatus& one : exports) {
    document["exports"].push_back(describe(one));
  }
  document["sessions"] = Json::array();
  for (const SessionStatus& one : sessions) document["sessions"].push_back(describe(one));
  return metrics::text_of(document);
}

}  // namespace rdmablk::target
