#pragma once

#include <cstddef>
#include <vector>

#include "target/export_spec.h"
#include "target/findings.h"

namespace rdmablk::target {

/// Looks whether this machine could give exports their memory.
/// @param specs with the sizes that are known of the files of resident ones.
/// @param findings memory that is merely taken now is a note: by a target that runs, maybe.
void probe_memory(const std::vector<ExportSpec>& specs, Findings& findings);

}  // namespace rdmablk::target
