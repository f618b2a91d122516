#pragma once

#include "target/export_spec.h"
#include "target/state_directory.h"

namespace rdmablk::target {

/// Has an export keep the size of its file, or of what was saved of it, whatever its size is
/// configured to be, when it was resized while it was served: that is no file by mistake. Logs it.
/// Throws SystemError.
/// @param state where identities are kept; null: nowhere.
void adopt_known_size(ExportSpec& spec, const StateDirectory* state);

}  // namespace rdmablk::target
