#pragma once

#include <fuse3/fuse_lowlevel.h>

#include <memory>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// What mount(2) is told.
struct MountSettings {
  std::string source;        ///< what /proc/self/mountinfo shows as the source
  bool read_only = false;    ///< mounted "ro"
  bool allow_other = false;  ///< for other users than the one who mounts, too
  std::string flags;         ///< more options for the kernel: "noatime,noexec", or empty
};

/// Owns a session of libfuse's low-level interface, and the mount once it is made. Set up and
/// destroyed by one thread; clone() and get() may be used by any.
///
/// Answers go out through the descriptor that set_answer_descriptor() named for the calling thread:
/// the kernel takes an answer only on the descriptor that its request was read from, and each
/// worker has its own.
class FuseSession {
 public:
  /// @param operations and `userdata` (fuse_req_userdata()) outlive the session. Throws Error.
  FuseSession(const MountSettings& settings, const fuse_lowlevel_ops& operations, void* userdata);

  /// Unmounts what is still mounted, lazily when it is in use.
  ~FuseSession();
  FuseSession(const FuseSession&) = delete;
  FuseSession& operator=(const FuseSession&) = delete;

  /// Mounts on a file or a directory, by absolute path. Throws Error.
  void mount(const std::string& path);

  /// Another descriptor of the mounted session (FUSE_DEV_IOC_CLONE), which does not block.
  /// Throws SystemError.
  UniqueFd clone() const;

  /// Unmounts. A mount in use is detached: gone from the tree, served until the descriptors are
  /// closed. Does nothing when it is not mounted (any more).
  /// @return whether it was in use.
  bool unmount() noexcept;

  /// Tells the kernel that it does not know the attributes of a node any more. Any thread that does
  /// not answer requests.
  void forget_attributes(fuse_ino_t node) const noexcept;

  /// Tells libfuse that the mount is gone: it no longer complains of answers that fail.
  void end() noexcept { fuse_session_exit(session_.get()); }

  fuse_session* get() const noexcept { return session_.get(); }

 private:
  struct Destroy {
    void operator()(fuse_session* session) const noexcept { fuse_session_destroy(session); }
  };
  bool connection_ended() const noexcept;
  bool is_in_place() const noexcept;
  void disown_mount() const noexcept;

  std::unique_ptr<fuse_session, Destroy> session_;
  std::string path_;    ///< empty: not mounted by this object, or no longer
  std::string device_;  ///< of the mount
};

/// Names the descriptor that the calling thread answers through, from here on.
void set_answer_descriptor(int fd) noexcept;

}  // namespace rdmablk::fuse
