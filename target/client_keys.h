#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/auth/handshake.h"
#include "common/auth/key.h"
#include "common/auth/key_file.h"

namespace rdmablk::target {

/// The clients that may use a target, and the keys of each.
class ClientKeys {
 public:
  /// Keys of one client that are good at the same time: an old one and a new one.
  static constexpr std::size_t kMaxKeys = 2;

  /// Reads a key file whose lines all say whose key they have. Throws Error.
  static ClientKeys read(const std::string& path);

  /// @param path for messages. Throws Error.
  ClientKeys(const std::vector<auth::NamedKey>& keys, const std::string& path);

  bool has(std::string_view client) const { return keys_.find(client) != keys_.end(); }
  std::size_t size() const noexcept { return keys_.size(); }

  /// The key that a client's proof was made with; nothing when it was made with none of its own. It
  /// takes the same time for a client that there is not. Throws Error.
  std::optional<auth::Key> match(std::string_view client, const auth::Handshake& handshake,
                                 const protocol::Token& proof) const;

 private:
  std::map<std::string, std::vector<auth::Key>, std::less<>> keys_;
};

}  // namespace rdmablk::target
