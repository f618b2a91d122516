#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "target/export_spec.h"
#include "target/state_directory.h"

namespace rdmablk::target {

/// The size that an export's file, or the file that it was saved to, was given while it was served,
/// where the export is configured with another; nothing when its size is that, or was changed by
/// somebody else. Throws SystemError.
/// @param state where identities are kept; null: nowhere.
std::optional<std::uint64_t> known_size(const ExportSpec& spec, const StateDirectory* state);

/// Says that an export keeps its known size.
std::string describe_known_size(const ExportSpec& spec, std::uint64_t size);

/// Has an export keep it.
void set_known_size(ExportSpec& spec, std::uint64_t size);

/// Has an export keep its known size, if there is one: that is no file by mistake. Logs it. Throws
/// SystemError.
/// @param state where identities are kept; null: nowhere.
void adopt_known_size(ExportSpec& spec, const StateDirectory* state);

}  // namespace rdmablk::target
