#pragma once

#include "common/metrics/use.h"
#include "target/administration.h"

namespace rdmablk::target {

/// Whether the target's CPU works on all requests to an export, and so can count them itself.
inline bool is_served(const ExportStatus& status) noexcept {
  return status.spec.kind == protocol::ExportKind::file && status.file.has_value();
}

/// What was done with an export, by the best account that there is.
inline protocol::Use use_of(const ExportStatus& status) noexcept {
  return is_served(status) ? metrics::use_of(status.file->io) : status.reported;
}

}  // namespace rdmablk::target
