#pragma once

#include <nlohmann/json_fwd.hpp>

#include "target/export_spec.h"

namespace rdmablk::target {

/// Reads an export that somebody asks for over the administration socket: a text as --export takes
/// it, or an object. Its paths must be absolute: nobody there knows this process's directory.
/// Throws UsageError.
ExportSpec read_admin_spec(const nlohmann::json& value);

}  // namespace rdmablk::target
