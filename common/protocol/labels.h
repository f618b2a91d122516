#pragma once

#include "common/protocol/messages.h"

namespace rdmablk::protocol {

/// What a kind of exports is called where machines read it.
constexpr const char* label_of(ExportKind kind) noexcept {
  switch (kind) {
    case ExportKind::memory:
      return "memory";
    case ExportKind::file:
      return "file";
    case ExportKind::resident:
      return "resident";
  }
  return "unknown";
}

/// The same, of an access.
constexpr const char* label_of(Access access) noexcept {
  return access == Access::read_only ? "read_only" : "read_write";
}

}  // namespace rdmablk::protocol
