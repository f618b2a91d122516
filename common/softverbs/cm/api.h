#pragma once

#include <cerrno>
#include <new>
#include <system_error>

#include "common/softverbs/export.h"

namespace softverbs::cm {

/// The convention of librdmacm for failure: sets errno, gives -1.
/// @param error a positive errno value.
inline int fail(int error) {
  errno = error;
  return -1;
}

/// What a call answers whose inner result is 0 or a negative errno value.
inline int answer(int result) {
  return result < 0 ? fail(-result) : result;
}

/// Runs `body` (it gives what the C function returns) and keeps exceptions from reaching C.
template <typename Body>
int guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::system_error& error) {
    return fail(error.code().value());
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM);
  } catch (...) {
    return fail(EIO);
  }
}

}  // namespace softverbs::cm
