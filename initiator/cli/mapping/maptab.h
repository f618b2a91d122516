#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/uri.h"

namespace rdmablk::cli::mapping {

inline constexpr const char* kMaptab = "/etc/rdmablk/maptab";

/// A line of maptab: NAME URI [OPTIONS]
struct MaptabEntry {
  std::string name;
  Uri uri;
  std::string options;       ///< as after -o of a mount; empty for "-" and "defaults"
  bool is_automatic = true;  ///< mapped at boot; not with noauto
};

/// The block devices that this host is to have, as /etc/crypttab has those of cryptsetup.
struct Maptab {
  std::vector<MaptabEntry> entries;
  std::vector<std::string> errors;  ///< "FILE:LINE: what is wrong", of the lines left out

  /// @return null when there is no such entry.
  const MaptabEntry* find(std::string_view name) const;
};

/// Reads the text of a maptab: words between blanks; "#" begins a line that says nothing. Lines
/// that make no sense are left out, and named.
/// @param file its name, for errors.
Maptab parse_maptab(std::string_view text, const std::string& file);

/// Reads a maptab; one that is not there is empty. Throws Error when it cannot be read, or is
/// larger than a maptab can be.
Maptab read_maptab(const std::string& file);

}  // namespace rdmablk::cli::mapping
