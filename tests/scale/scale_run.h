#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "common/uri.h"
#include "initiator/cli/json.h"

namespace rdmablk::scale {

/// What the sessions attach.
enum class Kind {
  readers,  ///< all read one export
  shared,   ///< all write one export, each its part
  each,     ///< each writes an export of its own
};

struct ScaleOptions {
  HostPort target;
  pid_t target_pid = 0;
  std::string target_log;
  std::size_t sessions = 1;
  Kind kind = Kind::readers;
  std::string export_name = "disk";  ///< each: followed by the number of the session
  std::uint64_t part = 64 * 1024;    ///< bytes that a session works on, a multiple of kRequestSize
  unsigned depth = 32;
  unsigned in_flight = 32;
  std::uint64_t requests = 100'000;
  unsigned threads = 8;          ///< that connect at once
  std::chrono::seconds idle{0};  ///< how long the target is watched doing nothing
};

/// Opens sessions, works with them, measures, closes them, and does the same once more with many
/// threads that open them. Throws Error when a session is not there, data is wrong, or something is
/// left behind.
/// @return the figures.
cli::Json run_scale(const ScaleOptions& options);

}  // namespace rdmablk::scale
