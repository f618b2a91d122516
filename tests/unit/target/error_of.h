#pragma once

#include <functional>
#include <string>

#include "common/error.h"

namespace rdmablk::target {

/// The text of the error that a call ends with; empty when it ends with none.
template <typename Failure = UsageError>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const Failure& error) {
    return error.what();
  }
}

}  // namespace rdmablk::target
