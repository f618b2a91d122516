#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace rdmablk::metrics {

/// What became of a request that failed: few enough to be labels.
enum class ErrorKind : std::uint8_t {
  io,             ///< the storage, or the connection to it, failed
  no_space,       ///< the storage is full
  forbidden,      ///< it may not be done
  not_supported,  ///< it cannot be done here
  interrupted,    ///< whoever waited for it waits no more, or it was given up
  other,
};

inline constexpr std::size_t kErrorKinds = 6;

inline constexpr std::array<const char*, kErrorKinds> kErrorKindNames{
    "io", "no_space", "forbidden", "not_supported", "interrupted", "other"};

/// @param error an errno value, not 0.
constexpr ErrorKind error_kind(int error) noexcept {
  switch (error) {
    case EIO:
      return ErrorKind::io;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorKind::no_space;
    case EROFS:
    case EPERM:
    case EACCES:
      return ErrorKind::forbidden;
    case EOPNOTSUPP:
    case EINVAL:
    case ENOSYS:
      return ErrorKind::not_supported;
    case EINTR:
    case ECANCELED:
      return ErrorKind::interrupted;
    default:
      return ErrorKind::other;
  }
}

}  // namespace rdmablk::metrics
