#pragma once

#include <string>

#include "target/export_spec.h"

namespace rdmablk::target {

/// Keeps what is changed at run time, so that the next start finds it. On the control thread.
class ExportKeeper {
 public:
  virtual ~ExportKeeper() = default;

  /// Keeps an export, in place of one of that name. Throws Error.
  virtual void keep(const ExportSpec& spec) = 0;

  /// Forgets one. Throws Error, for one that somebody else keeps, too.
  virtual void forget(const std::string& name) = 0;

  /// Whether this keeps an export of that name, and may change it.
  virtual bool keeps(const std::string& name) const = 0;
};

}  // namespace rdmablk::target
