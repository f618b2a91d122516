#pragma once

#include <string>

#include "common/protocol/messages.h"

namespace rdmablk {

/// A random UUID (RFC 9562, version 4).
protocol::Uuid make_uuid();

/// "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
std::string format_uuid(const protocol::Uuid& uuid);

}  // namespace rdmablk
