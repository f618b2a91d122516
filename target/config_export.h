#pragma once

#include <optional>

#include "target/config_text.h"
#include "target/export_spec.h"

namespace rdmablk::target {

/// Reads a table [export.NAME]: `type`, which is memory or file, `size` or `path`, and the options
/// of --export, those without a value as NAME = true.
/// @param complaints gets what is wrong. @return nothing when something is.
std::optional<ExportSpec> read_export(const ConfigEntry& table, Complaints& complaints);

}  // namespace rdmablk::target
