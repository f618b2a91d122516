#include <chrono>
#include <nlohmann/json.hpp>

#include "common/metrics/status_json.h"
#include "common/seconds.h"
#include "fuse/mount_figures.h"

namespace rdmablk::fuse {
namespace {

using initiator::SessionState;

const char* name(SessionState::Phase phase) {
  switch (phase) {
    case SessionState::Phase::connected:
      return "connected";
    case SessionState::Phase::reconnecting:
      return "reconnecting";
    case SessionState::Phase::failing:
      return "failing";
    case SessionState::Phase::lost:
      return "lost";
  }
  return "unknown";
}

metrics::Json describe(const initiator::PathStatus& path) {
  return {{"address", path.place.text()},
          {"device", path.device},
          {"up", path.is_up},
          {"session", path.is_admin},
          {"queues", path.queues},
          {"failures", path.failures},
          {"reads", path.counts.reads},
          {"writes", path.counts.writes},
          {"bytes_read", path.counts.bytes_read},
          {"bytes_written", path.counts.bytes_written},
          {"last_error", path.last_error}};
}

}  // namespace

std::string MountFigures::status() const {
  using std::chrono::duration;
  metrics::Json mount{{"source", source},
                      {"export", export_name},
                      {"mount_point", mount_point},
                      {"device", device},
                      {"size_bytes", size},
                      {"read_only", read_only},
                      {"state", name(state.phase)},
                      {"state_age_s", in_seconds(std::chrono::steady_clock::now() - state.since)},
                      {"reason", state.reason},
                      {"last_error", state.last_error},
                      {"reconnects", state.reconnects},
                      {"workers", plan.workers},
                      {"slots", plan.slots()},
                      {"in_flight", in_flight},
                      {"io", metrics::io_json(io)}};
  mount["paths"] = metrics::Json::array();
  for (const auto& path : paths) mount["paths"].push_back(describe(path));
  if (oldest) mount["oldest_age_s"] = in_seconds(*oldest);
  metrics::Json document = metrics::new_status("rdmablk-fuse");
  document["mount"] = std::move(mount);
  return metrics::text_of(document);
}

}  // namespace rdmablk::fuse
