#pragma once

#include <cstddef>
#include <string_view>

namespace rdmablk {

/// The longest name of an export, in bytes.
inline constexpr std::size_t kMaxExportName = 63;

/// Whether a text may name an export: [A-Za-z0-9][A-Za-z0-9._-]{0,62}.
bool is_export_name(std::string_view text);

}  // namespace rdmablk
