#pragma once

#include <string>

#include "common/auth/key.h"

namespace rdmablk::initiator {

/// Who an initiator says it is, and the key that proves it.
class Credentials {
 public:
  /// Reads the key file, which holds one key. Throws Error, also when the file says that the key is
  /// another client's.
  /// @param client its name; empty: the one in the key file, or else the host's without its domain.
  explicit Credentials(const std::string& key_file, std::string client = {});

  const std::string& client() const noexcept { return client_; }
  const auth::Key& key() const noexcept { return key_; }

  /// Reads the key file again, for whoever has changed the key there. When that cannot be, a
  /// warning is logged and the key stays what it was.
  void refresh();

 private:
  auth::Key read();

  std::string key_file_;  ///< absolute: a daemon changes its directory
  std::string client_;
  std::string complaint_;  ///< of the last time that the file was read; said once
  auth::Key key_;
};

}  // namespace rdmablk::initiator
