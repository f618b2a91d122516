#pragma once

#include <span>

#include "target/export_spec.h"

namespace rdmablk::target {

/// Checks, before any is opened, that no two exports stand on one file or block device, whatever
/// path, link or device node leads there; exports that are all read-only may. BackingFile's locks
/// refuse most of that too, but slowly, and do not see a device under two nodes.
/// Throws UsageError, which names both. What cannot be looked at is left to BackingFile.
void check_distinct_files(std::span<const ExportSpec> specs);

}  // namespace rdmablk::target
