#include "initiator/cli/timeouts_report.h"

#include <fmt/format.h>

namespace rdmablk::cli {
namespace {

using mount_control::kNever;
using mount_control::Phase;
using mount_control::Status;

const char* phase_meaning(Phase phase) {
  switch (phase) {
    case Phase::connected:
      return "";
    case Phase::reconnecting:
      return ": reads and writes wait";
    case Phase::failing:
      return ": reads and writes fail; it still tries to reconnect";
    case Phase::lost:
      return ": reads and writes fail for good; mount it anew";
  }
  return "";
}

/// Seconds, with as many decimals as it has.
std::string seconds(std::uint64_t time_ms) {
  if (time_ms == kNever) return "never";
  return fmt::format("{:g} s", static_cast<double>(time_ms) / 1000);
}

Json or_null(const char* text) {
  return *text == '\0' ? Json() : Json(text);
}

Json time(std::uint64_t time_ms) {
  return time_ms == kNever ? Json() : Json(time_ms);
}

}  // namespace

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::connected:
      return "connected";
    case Phase::reconnecting:
      return "reconnecting";
    case Phase::failing:
      return "failing";
    case Phase::lost:
      return "lost";
  }
  return "unknown";
}

std::string timeouts_text(const MountEntry& mount, const Status& status) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<17}{}\n", name, value);
  };
  line("source", mount.source);
  line("state", fmt::format("{}{}", phase_name(status.phase), phase_meaning(status.phase)));
  line("since", fmt::format("{} s ago", status.phase_time / 1000));
  line("reconnects", std::to_string(status.reconnects));
  if (status.reason[0] != '\0') line("last loss", static_cast<const char*>(status.reason));
  if (status.last_error[0] != '\0') {
    line("last error", static_cast<const char*>(status.last_error));
  }
  line("reconnect-delay", seconds(status.times.reconnect_delay));
  line("fail-fast", seconds(status.times.fail_fast));
  line("give-up", seconds(status.times.give_up));
  return text;
}

Json timeouts_json(const MountEntry& mount, const Status& status) {
  Json document = new_document();
  document["mount_point"] = mount.path;
  document["source"] = mount.source;
  document["state"] = phase_name(status.phase);
  document["state_time_ms"] = status.phase_time;
  document["reconnects"] = status.reconnects;
  document["last_loss"] = or_null(status.reason);
  document["last_error"] = or_null(status.last_error);
  document["reconnect_delay_ms"] = status.times.reconnect_delay;
  document["fail_fast_ms"] = time(status.times.fail_fast);
  document["give_up_ms"] = time(status.times.give_up);
  return document;
}

}  // namespace rdmablk::cli
