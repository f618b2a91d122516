#include <chrono>

#include "common/metrics/exposition.h"
#include "common/protocol/labels.h"
#include "common/seconds.h"
#include "common/uuid.h"
#include "target/target_figures.h"

namespace rdmablk::target {
namespace {

using metrics::Exposition;
using metrics::Labels;

template <typename Number>
double number(Number value) {
  return static_cast<double>(value);
}

void add_counters(Exposition& out, const Counters& counters) {
  out.counter("rdmablk_target_sessions_opened_total", "Sessions that began.",
              number(counters.sessions));
  out.counter("rdmablk_target_attachments_made_total", "Exports that sessions attached.",
              number(counters.attachments));
  out.counter("rdmablk_target_io_queues_accepted_total", "I/O queues that were connected.",
              number(counters.io_queues));
  out.counter("rdmablk_target_admin_messages_total", "Messages that came on admin queues.",
              number(counters.messages));
  out.counter("rdmablk_target_refused_connections_total", "Requests to connect that were refused.",
              number(counters.refused));
  out.counter("rdmablk_target_evictions_total",
              "Sessions that the target ended: silent ones, those whose key is gone, and by order.",
              number(counters.evictions));
  out.counter("rdmablk_target_lease_takeovers_total",
              "Attachments that lost the right to write to another.", number(counters.take_overs));
}

void add_counts(Exposition& out, const Counts& counts) {
  out.gauge("rdmablk_target_sessions", "Sessions, with those that are about to end.",
            number(counts.sessions));
  out.gauge("rdmablk_target_attachments", "Exports that sessions have attached.",
            number(counts.attachments));
  out.gauge("rdmablk_target_io_queues", "I/O queues that are connected.", number(counts.io_queues));
  out.gauge("rdmablk_target_draining_io_queues",
            "I/O queues whose connection is gone, and whose requests are not through.",
            number(counts.draining));
  out.gauge("rdmablk_target_leases", "Rights to write that are held.", number(counts.leases));
  out.gauge("rdmablk_target_registered_bytes",
            "Memory registered with RDMA devices; what is registered twice counts twice.",
            number(counts.footprint.bytes));
  out.gauge("rdmablk_target_queue_pairs", "Queue pairs.", number(counts.footprint.queue_pairs));
  out.gauge("rdmablk_target_memory_regions", "Memory regions.",
            number(counts.footprint.memory_regions));
  out.gauge("rdmablk_target_protection_domains", "Protection domains.",
            number(counts.footprint.protection_domains));
  out.gauge("rdmablk_target_open_fds", "Open file descriptors.", number(counts.open_fds));
}

void add_attachments(Exposition& out, const ExportStatus& one) {
  for (const auto access : {protocol::Access::read_only, protocol::Access::read_write}) {
    out.gauge("rdmablk_export_attachments", "Sessions that have the export, by their access.",
              number(access == protocol::Access::read_only ? one.readers : one.writers),
              {{"export", one.spec.name}, {"access", label_of(access)}});
  }
}

void add_file(Exposition& out, const ExportStatus& one, const Labels& labels) {
  if (!one.file) return;
  out.io("rdmablk_export", one.file->io, labels);
  out.gauge("rdmablk_export_requests_in_flight", "Requests that the target works on.",
            number(one.file->io.in_flight()), labels);
  out.histogram("rdmablk_export_sync_duration_seconds",
                "How long each fdatasync of the export's file took.", one.file->syncs, labels);
}

void add_export(Exposition& out, const ExportStatus& one, const ExportHistoryEntry& history) {
  const Labels labels{{"export", one.spec.name}};
  out.info("rdmablk_export_info", "What is offered.",
           {{"export", one.spec.name},
            {"type", label_of(one.spec.kind)},
            {"uuid", format_uuid(one.uuid)},
            {"access", one.spec.read_only ? "read_only" : "read_write"}});
  out.gauge("rdmablk_export_size_bytes", "Size of the export.", number(one.size), labels);
  add_attachments(out, one);
  out.gauge("rdmablk_export_registered_bytes",
            "Memory of the export that is registered; what is registered twice counts twice.",
            number(one.registered_bytes), labels);
  out.counter("rdmablk_export_leases_granted_total",
              "Rights to write that were given out, since somebody looked first.",
              number(history.leases), labels);
  out.counter("rdmablk_export_generation_changes_total",
              "Times that content may have been lost, as far as somebody looked meanwhile.",
              number(history.generations), labels);
  add_file(out, one, labels);
}

void add_report(Exposition& out, const ClientReports::Key& key, const protocol::Use& use) {
  const Labels labels{{"export", key.first}, {"client", key.second}};
  const auto with = [&](const char* name, const char* value) {
    Labels more = labels;
    more.emplace_back(name, value);
    return more;
  };
  constexpr const char* kRequests = "rdmablk_client_reported_requests_total";
  constexpr const char* kRequestsHelp =
      "Requests that clients say have ended: the target does not see those that go past its CPU.";
  out.counter(kRequests, kRequestsHelp, number(use.reads), with("operation", "read"));
  out.counter(kRequests, kRequestsHelp, number(use.writes), with("operation", "write"));
  out.counter(kRequests, kRequestsHelp, number(use.flushes), with("operation", "flush"));
  out.counter(kRequests, kRequestsHelp, number(use.others), with("operation", "other"));
  constexpr const char* kBytes = "rdmablk_client_reported_bytes_total";
  constexpr const char* kBytesHelp = "Bytes that clients say they have read and written.";
  out.counter(kBytes, kBytesHelp, number(use.bytes_read), with("operation", "read"));
  out.counter(kBytes, kBytesHelp, number(use.bytes_written), with("operation", "write"));
  out.counter("rdmablk_client_reported_errors_total", "Requests that clients say have failed.",
              number(use.errors), labels);
}

}  // namespace

std::string TargetFigures::metrics() const {
  Exposition out;
  out.info("rdmablk_target_info", "The target's version.", {{"version", RDMABLK_VERSION}});
  out.gauge("rdmablk_target_uptime_seconds", "Since it started.", in_seconds(uptime));
  out.gauge("rdmablk_target_exports", "Exports that there are.", number(exports.size()));
  add_counts(out, counts);
  add_counters(out, counters);
  out.gauge("rdmablk_target_slot_memory_bytes", "Memory that the slots of file exports take.",
            number(slot_memory));
  out.gauge("rdmablk_target_slot_memory_limit_bytes", "Memory that they may take (--slot-memory).",
            number(slot_memory_limit));
  for (const ExportStatus& one : exports) {
    const auto known = history.find(one.spec.name);
    add_export(out, one, known == history.end() ? ExportHistoryEntry{} : known->second);
  }
  for (const auto& [key, use] : reports) add_report(out, key, use);
  return out.text();
}

}  // namespace rdmablk::target
