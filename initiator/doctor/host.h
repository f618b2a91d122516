#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "initiator/cli/rdma_device.h"

namespace rdmablk::doctor {

/// What this host and this process are like, as far as checks look at it. Tests make their own.
struct Host {
  /// What stands for "/": all files are looked for below it.
  std::filesystem::path root = "/";

  std::vector<cli::RdmaDevice> devices;
  std::uint64_t memlock_limit = 0;  ///< bytes; UINT64_MAX: none
  unsigned cores = 1;               ///< that this process may use
  bool is_root = false;
  std::string preloaded;       ///< LD_PRELOAD
  std::string search_path;     ///< PATH
  std::string io_uring_error;  ///< why there is no io_uring; empty: there is

  /// The host that this runs on. Throws Error.
  static Host look();

  /// @param path absolute.
  std::filesystem::path at(const std::string& path) const { return root / path.substr(1); }

  bool has(const std::string& path) const;

  /// Whether this process may read and write a file.
  bool may_use(const std::string& path) const;

  /// The text of a file, without the line feed at its end; nothing when it cannot be read.
  std::optional<std::string> read(const std::string& path) const;

  /// The names in a directory, in order; none when it cannot be read.
  std::vector<std::string> names_in(const std::string& path) const;

  /// Whether the devices are those of libsoftverbs.so, which needs nothing of the kernel.
  bool has_software_device() const;
};

}  // namespace rdmablk::doctor
