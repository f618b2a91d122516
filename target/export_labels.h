#pragma once

#include "target/export_spec.h"

namespace rdmablk::target {

/// What a kind of exports is called where machines read it.
constexpr const char* label_of(protocol::ExportKind kind) noexcept {
  switch (kind) {
    case protocol::ExportKind::memory:
      return "memory";
    case protocol::ExportKind::file:
      return "file";
    case protocol::ExportKind::resident:
      return "resident";
  }
  return "unknown";
}

constexpr const char* label_of(protocol::Access access) noexcept {
  return access == protocol::Access::read_only ? "read_only" : "read_write";
}

}  // namespace rdmablk::target
