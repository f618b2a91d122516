#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/protocol/messages.h"

namespace rdmablk {

/// A random UUID (RFC 9562, version 4).
protocol::Uuid make_uuid();

/// "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
std::string format_uuid(const protocol::Uuid& uuid);

/// Reads what format_uuid() writes; nothing for anything else.
std::optional<protocol::Uuid> parse_uuid(std::string_view text);

}  // namespace rdmablk
