#include <array>
#include <chrono>

#include "common/metrics/exposition.h"
#include "common/seconds.h"
#include "fuse/mount_figures.h"
#include "fuse/slot.h"

namespace rdmablk::fuse {
namespace {

using initiator::SessionState;

constexpr std::array kPhases{"connected", "reconnecting", "failing", "lost"};

void add_state(metrics::Exposition& out, const SessionState& state, const metrics::Labels& labels) {
  for (std::size_t i = 0; i < kPhases.size(); ++i) {
    metrics::Labels of = labels;
    of.emplace_back("state", kPhases[i]);
    out.gauge("rdmablk_mount_state",
              "Whether this is the state of the connection: one of them is 1, the others are 0.",
              static_cast<std::size_t>(state.phase) == i ? 1 : 0, of);
  }
  out.gauge("rdmablk_mount_connected", "Whether the target can be reached.",
            state.phase == SessionState::Phase::connected ? 1 : 0, labels);
  out.gauge("rdmablk_mount_state_age_seconds", "Since the state is what it is.",
            in_seconds(std::chrono::steady_clock::now() - state.since), labels);
  out.counter("rdmablk_mount_reconnects_total", "Times that a lost connection came back.",
              static_cast<double>(state.reconnects), labels);
}

void add_path(metrics::Exposition& out, const initiator::PathStatus& path,
              const metrics::Labels& mount) {
  metrics::Labels labels = mount;
  labels.emplace_back("path", path.place.text());
  labels.emplace_back("device", path.device);
  const auto directed = [&](const char* direction) {
    metrics::Labels of = labels;
    of.emplace_back("direction", direction);
    return of;
  };
  constexpr const char* kBytes = "rdmablk_path_bytes_total";
  constexpr const char* kBytesHelp = "Bytes of requests that a path to the target has carried.";
  out.counter(kBytes, kBytesHelp, static_cast<double>(path.counts.bytes_read), directed("read"));
  out.counter(kBytes, kBytesHelp, static_cast<double>(path.counts.bytes_written),
              directed("write"));
  const auto requests = path.counts.reads + path.counts.writes + path.counts.others;
  out.counter("rdmablk_path_requests_total", "Requests that have ended well over a path.",
              static_cast<double>(requests), labels);
  out.counter("rdmablk_path_failures_total", "Times that a path went out of use.",
              static_cast<double>(path.failures), labels);
  out.gauge("rdmablk_path_up", "Whether a path is in use.", path.is_up ? 1 : 0, labels);
  out.gauge("rdmablk_path_queues", "I/O queues whose connections go over a path now.", path.queues,
            labels);
}

}  // namespace

std::string MountFigures::metrics() const {
  metrics::Exposition out;
  const metrics::Labels labels{{"export", export_name}};
  out.info("rdmablk_mount_info", "What is mounted, where.",
           {{"export", export_name},
            {"source", source},
            {"mount_point", mount_point},
            {"device", device},
            {"access", read_only ? "read_only" : "read_write"},
            {"version", RDMABLK_VERSION}});
  add_state(out, state, labels);
  out.io("rdmablk_mount", io, labels);
  for (const auto& path : paths) add_path(out, path, labels);
  out.gauge("rdmablk_mount_requests_in_flight", "Requests that have not ended.",
            static_cast<double>(in_flight), labels);
  out.gauge("rdmablk_mount_oldest_request_age_seconds",
            "Age of the oldest request that has not ended; 0 without any.",
            in_seconds(oldest.value_or(std::chrono::nanoseconds(0))), labels);
  out.gauge("rdmablk_mount_size_bytes", "Size of the image.", static_cast<double>(size), labels);
  out.gauge("rdmablk_mount_workers", "Threads that serve requests.", plan.workers, labels);
  out.gauge("rdmablk_mount_slots", "Requests that can be worked on at a time.",
            static_cast<double>(plan.slots()), labels);
  out.gauge("rdmablk_mount_buffer_bytes", "Registered memory of the requests' slots.",
            static_cast<double>(plan.slots() * kSlotSize), labels);
  return out.text();
}

}  // namespace rdmablk::fuse
