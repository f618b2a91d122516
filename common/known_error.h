#pragma once

#include <string>

#include "common/error.h"

namespace rdmablk {

/// An Error of a kind that there is an errno value for: for programs, which cannot read.
class KnownError : public Error {
 public:
  /// @param error an errno value, positive.
  KnownError(int error, const std::string& what) : Error(what), error_(error) {}

  int error() const noexcept { return error_; }

 private:
  int error_;
};

}  // namespace rdmablk
