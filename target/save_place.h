#pragma once

#include <chrono>
#include <string>

#include "common/unique_fd.h"
#include "target/export_spec.h"
#include "target/file_lock.h"

namespace rdmablk::target {

/// How long a lock that somebody holds is waited for: that of a target that is just ending.
inline constexpr std::chrono::seconds kSaveLockWait{2};

/// The file PATH.rdmablk-new, in which a save to PATH begins. It is there, locked, for as long as a
/// target may save: that shows at the start whether one can be made, and keeps a second target from
/// saving to the same PATH. The kernel lifts the lock of one that was killed; what such a one has
/// left is neither read nor written to, but replaced. It goes away with the object. What is at PATH
/// is locked meanwhile, too, so that nobody exports it.
class SavePlace {
 public:
  /// @param spec with `save`. @param lock_wait how long to retry when another has locked it; blocks
  /// that long. Throws Error.
  explicit SavePlace(const ExportSpec& spec, std::chrono::milliseconds lock_wait = kSaveLockWait);
  ~SavePlace();
  SavePlace(const SavePlace&) = delete;
  SavePlace& operator=(const SavePlace&) = delete;

  /// What a save to a path begins in.
  static std::string beginning_of(const std::string& path);

  int fd() const noexcept { return fd_.get(); }

  /// Makes it PATH, on stable storage. Of no use after that. Throws Error, also when another has
  /// locked what is there by now.
  void take_place();

 private:
  SavePlace(std::string temporary, const ExportSpec& spec);
  int open(int flags) const;
  void remove_left_over(const Patience& patience) const;
  void hold(const Patience& patience);
  void lock(int fd, const std::string& path, const Patience& patience) const;

  const ExportSpec& spec_;
  std::string temporary_;
  UniqueFd fd_;
  UniqueFd held_;  ///< what is at PATH
};

}  // namespace rdmablk::target
