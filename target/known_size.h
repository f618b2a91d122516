#pragma once

#include <cstdint>
#include <optional>

#include "target/export_spec.h"
#include "target/state_directory.h"

namespace rdmablk::target {

/// The size that a file was given while it was served, where `size=` says another; nothing when its
/// size is that, or was changed by somebody else. Throws SystemError.
/// @param state where identities are kept; null: nowhere.
std::optional<std::uint64_t> known_size(const ExportSpec& spec, const StateDirectory* state);

/// Has an export keep the size of its file, whatever `size=` says, when it was resized while it was
/// served: that is no file by mistake. Logs it. Throws SystemError.
/// @param state where identities are kept; null: nowhere.
void adopt_known_size(ExportSpec& spec, const StateDirectory* state);

}  // namespace rdmablk::target
