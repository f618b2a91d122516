#pragma once

#include <string>

#include "common/protocol/messages.h"

namespace rdmablk::target {

/// What a file or block device is recognised by when a target starts again.
struct FileFingerprint {
  /// What it is found by: the real path of a file, what identifies a device. Unique.
  std::string key;

  /// Which file of that path it is, or which device: another one when it was replaced. Empty: there
  /// is no file.
  std::string incarnation;

  /// When its content was changed last, as far as its file system says.
  std::string changed;

  /// A short name for a file about it: letters and digits only, unique.
  std::string file_name() const;

  /// A UUID that is made of the key, the incarnation and `more`, and always the same.
  protocol::Uuid derive_uuid(const std::string& more) const;
};

/// Looks at an open file or block device. @param path that it was opened by. Throws SystemError.
FileFingerprint fingerprint_of(int fd, const std::string& path);

/// Of a path where there may be no file, yet or any more. Throws SystemError.
FileFingerprint fingerprint_of(const std::string& path);

}  // namespace rdmablk::target
