#pragma once

#include <string>

#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// What a target says on its administration socket, for people. What is missing, or of another
/// form, shows as "-": a target may be older than this program, or newer.

/// @param status the member of that name of the reply.
std::string target_status_text(const Json& status);

/// A table. @param exports, sessions lists.
std::string admin_exports_text(const Json& exports);
std::string admin_sessions_text(const Json& sessions);

/// A part of a reply as a document of its own, under the same key.
Json document_of(const Json& reply, const char* key);

}  // namespace rdmablk::cli
