#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "target/client_keys.h"
#include "target/export.h"

namespace rdmablk::target {

/// The keys of a target's clients as they lie in its key file, which may change.
class KeyRing {
 public:
  /// Reads the key file. Throws Error.
  /// @param path nothing: nobody is asked who they are.
  explicit KeyRing(std::optional<std::string> path);

  /// The keys that there are now; null when nobody is asked. Stays where it is.
  const ClientKeys* keys() const noexcept { return keys_ ? &*keys_ : nullptr; }

  /// Reads the file again. When that cannot be, the keys stay as they were; the log says so.
  /// @return whether it was read.
  bool reload();

  /// Logs whom exports are for although they have no key: a typing error, or somebody who is yet to
  /// come.
  void check_rules(std::span<const std::unique_ptr<Export>> exports) const;
  void check_rules(const ExportSpec& spec) const;

 private:
  std::optional<std::string> path_;
  std::optional<ClientKeys> keys_;
};

}  // namespace rdmablk::target
