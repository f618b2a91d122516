#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace softverbs {

/// What kind of port the devices play.
enum class Kind { kRoce, kIwarp };

/// How READs and WRITEs reach a peer's memory.
enum class Copy {
  kMapped,     ///< Through a mapping of it where it lies in a memfd, with process_vm_* elsewhere.
  kProcessVm,  ///< With process_vm_* always.
};

/// What the environment asks for: SOFTVERBS_KIND (roce, iwarp), SOFTVERBS_COPY (mapped, process_vm)
/// and SOFTVERBS_DEVICES (1 to 16).
/// A value that is not understood is reported on standard error once and the default is used.
struct Settings {
  Kind kind = Kind::kRoce;
  Copy copy = Copy::kMapped;
  int devices = 1;
  /// A service manager started this process (NOTIFY_SOCKET, sd_notify(3)) and may keep its memfds
  /// beyond its death. A copy through a mapping that is under way then would end in the hands of
  /// the next process, where an adapter's ends with the process: peers may map nothing.
  bool memory_may_outlive_it = false;

  [[nodiscard]] bool iwarp() const { return kind == Kind::kIwarp; }

  /// Read at the first call; later changes of the environment have no effect.
  static const Settings& get();
};

}  // namespace softverbs
