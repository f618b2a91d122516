#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk::target {

/// Where it is unless another place is asked for: target.sock in $RUNTIME_DIRECTORY, or in
/// /run/rdmablk for root. Empty for others: no place is usual.
std::string default_admin_socket();

/// A Unix socket that listens at a path, which goes away with the object.
class AdminPlace {
 public:
  /// Takes the place of a socket that nobody listens at any more. Throws Error; for a place where
  /// another process listens, and for one that is no socket, too.
  /// @param path at most 99 bytes. @param group that may connect; empty: only the user.
  /// @param predecessor a process whose place is taken though it listens.
  AdminPlace(std::string path, const std::string& group, std::optional<pid_t> predecessor);
  ~AdminPlace();
  AdminPlace(const AdminPlace&) = delete;
  AdminPlace& operator=(const AdminPlace&) = delete;

  /// Listens; non-blocking. @return the descriptor, which is the caller's from here on.
  UniqueFd release() noexcept { return std::move(socket_); }

  const std::string& path() const noexcept { return path_; }

  /// Looks whether this process could listen at a path, and let a group in, and makes nothing.
  /// Throws Error; not for a place where another process listens.
  /// @param group empty: none. @return who listens there, for people; empty: nobody.
  static std::string probe(const std::string& path, const std::string& group);

  /// The same of the group alone, wherever the socket will be.
  static void probe_group(const std::string& group);

 private:
  void bind_beside(const std::string& beside, const std::string& group);

  std::string path_;
  UniqueFd socket_;
  dev_t device_ = 0;  ///< what is ours at the path: nothing else is removed
  ino_t inode_ = 0;
};

}  // namespace rdmablk::target
