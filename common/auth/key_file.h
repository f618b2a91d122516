#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/auth/key.h"

namespace rdmablk::auth {

/// One line of a key file.
struct NamedKey {
  std::string client;  ///< empty when the line does not say whose it is
  Key key;
};

/// Reads the lines of a key file: [CLIENT] KEY each, where CLIENT has the form of an export's name.
/// Empty lines and those that begin with '#' are passed over. Throws Error, which names file and
/// line and shows nothing of it.
/// @param path for messages.
std::vector<NamedKey> parse_keys(std::string_view text, const std::string& path);

/// read_secret_file() and parse_keys(). Throws Error.
std::vector<NamedKey> read_key_file(const std::string& path);

}  // namespace rdmablk::auth
