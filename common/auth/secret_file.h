#pragma once

#include <string>
#include <string_view>

#include "common/auth/secret_text.h"

namespace rdmablk::auth {

/// The largest file that is read, in bytes.
inline constexpr std::size_t kMaxSecretFile = std::size_t{1} << 20U;

/// Reads a file that holds secrets. It is refused unless it is a regular file, no symbolic link,
/// belongs to root or to this process's user, and nobody else may read or write it. Throws Error.
SecretText read_secret_file(const std::string& path);

/// Makes a file of mode 0600 that is not there yet, and sees to it that it lasts. Leaves nothing
/// behind when it fails. Throws Error.
void create_secret_file(const std::string& path, std::string_view text);

}  // namespace rdmablk::auth
