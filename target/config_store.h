#pragma once

#include <string>

#include "target/export_keeper.h"
#include "target/export_spec.h"

namespace rdmablk::target {

/// The exports that an administrator has added while the target ran, each a drop-in of its own,
/// NAME.toml, beside the configuration file. A file that others have written is left alone.
class ConfigStore final : public ExportKeeper {
 public:
  /// @param config the configuration file.
  explicit ConfigStore(const std::string& config);

  /// Makes the drop-in of an export, and their directory, or replaces it as a whole; on stable
  /// storage when this returns. Throws Error, and leaves everything as it was.
  void keep(const ExportSpec& spec) override;

  /// Takes the drop-in of an export away, durably. Throws Error, also when keep() has made none.
  void forget(const std::string& name) override;

  /// Whether there is one that keep() has made.
  bool keeps(const std::string& name) const override;

  const std::string& directory() const noexcept { return directory_; }

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name + ".toml"; }
  void sync() const;

  std::string directory_;
};

}  // namespace rdmablk::target
