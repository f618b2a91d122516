#pragma once

#include <spdlog/sinks/dist_sink.h>

#include <memory>

namespace rdmablk::fuse {

/// Lets the log go to standard error first and to syslog later, while threads use it.
class LogSwitch {
 public:
  /// Takes over the log that start_logging() made. Before threads start.
  LogSwitch();

  /// From here on what is logged goes to syslog(3), under the log's name.
  void to_syslog();

 private:
  std::shared_ptr<spdlog::sinks::dist_sink_mt> sink_;  // shared with the logger
};

}  // namespace rdmablk::fuse
