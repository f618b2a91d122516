#include "fuse/log_switch.h"

#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

namespace rdmablk::fuse {

LogSwitch::LogSwitch() : sink_(std::make_shared<spdlog::sinks::dist_sink_mt>()) {
  auto& sinks = spdlog::default_logger()->sinks();
  sink_->set_sinks(sinks);
  sinks = {sink_};
}

void LogSwitch::to_syslog() {
  constexpr bool kFormatted = false;  // syslog has the time and the program's name
  sink_->set_sinks({std::make_shared<spdlog::sinks::syslog_sink_mt>(
      spdlog::default_logger()->name(), LOG_PID, LOG_DAEMON, kFormatted)});
}

}  // namespace rdmablk::fuse
