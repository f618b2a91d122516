#include "target/client_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/auth/hmac.h"
#include "common/error.h"

namespace rdmablk::target {

ClientKeys ClientKeys::read(const std::string& path) {
  return {auth::read_key_file(path), path};
}

ClientKeys::ClientKeys(const std::vector<auth::NamedKey>& keys, const std::string& path) {
  for (const auth::NamedKey& entry : keys) {
    if (entry.client.empty()) {
      throw Error(fmt::format(
          "cannot use the key file {}: a key has no client's name in front of it", path));
    }
    auto& known = keys_[entry.client];
    if (known.size() == kMaxKeys) {
      throw Error(fmt::format("cannot use the key file {}: client '{}' has more than {} keys", path,
                              entry.client, kMaxKeys));
    }
    known.push_back(entry.key);
  }
}

std::optional<auth::Key> ClientKeys::match(std::string_view client,
                                           const auth::Handshake& handshake,
                                           const protocol::Token& proof) const {
  // Keys that nobody has stand in for those that there are not: the work is the same for all.
  std::array<auth::Key, kMaxKeys> candidates{auth::Key::generate(), auth::Key::generate()};
  const auto found = keys_.find(client);
  if (found != keys_.end())
    std::copy(found->second.begin(), found->second.end(), candidates.begin());
  std::array<bool, kMaxKeys> proved{};
  for (std::size_t i = 0; i < kMaxKeys; ++i) {
    proved[i] = auth::equal_in_constant_time(handshake.client_proof(candidates[i]), proof);
  }
  for (std::size_t i = 0; i < kMaxKeys; ++i) {
    if (proved[i]) return candidates[i];
  }
  return std::nullopt;
}

}  // namespace rdmablk::target
