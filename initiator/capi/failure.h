#pragma once

#include <exception>
#include <string>
#include <utility>

namespace rdmablk::capi {

/// Ends a call that fails: keeps the text for rdmablk_error().
/// @param error an errno value, positive. @param text lives as long as the program.
/// @return the call's result, -error.
int fail(int error, const char* text) noexcept;

/// The same, for an error that was thrown; its kind tells the errno value.
int fail(const std::exception& error) noexcept;

/// The same, where the errno value is known better than by its kind.
int fail(int error, const std::exception& why) noexcept;

/// What rdmablk_error() returns.
const char* last_failure() noexcept;

/// Calls what may throw, at the boundary to C.
/// @return what it returns, or what fail() does.
template <typename Call>
int guarded(Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    return fail(error);
  }
}

}  // namespace rdmablk::capi
