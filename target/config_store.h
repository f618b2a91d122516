#pragma once

#include <string>

#include "target/export_spec.h"

namespace rdmablk::target {

/// The exports that an administrator has added while the target ran, each a drop-in of its own,
/// NAME.toml, beside the configuration file. A file that others have written is left alone.
class ConfigStore {
 public:
  /// @param config the configuration file.
  explicit ConfigStore(const std::string& config);

  /// Makes the drop-in of an export, and their directory, or replaces it as a whole; on stable
  /// storage when this returns. Throws Error, and leaves everything as it was.
  void write_export(const ExportSpec& spec) const;

  /// Takes the drop-in of an export away, durably. Throws Error.
  /// @return whether there was one that write_export() has made.
  bool remove_export(const std::string& name) const;

  /// Whether there is such a one.
  bool has_export(const std::string& name) const;

  const std::string& directory() const noexcept { return directory_; }

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name + ".toml"; }
  void sync() const;

  std::string directory_;
};

}  // namespace rdmablk::target
