#pragma once

namespace rdmablk::target {

/// Who asked for an export.
enum class ExportOrigin {
  command_line,
  configuration,  ///< the configuration file, or one of its drop-ins
  run_time,       ///< an administrator, who did not want it to be kept
};

}  // namespace rdmablk::target
