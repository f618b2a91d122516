#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/socket_address.h"
#include "common/uri.h"
#include "initiator/path_status.h"
#include "initiator/path_use.h"

namespace rdmablk::initiator {

/// The paths of a session to its target: which of them work, and what they carry. Changed by the
/// thread that drives the control loop; status() is for any.
class Paths {
 public:
  /// Finds all their addresses. @param places at least one; no two are the same. Throws Error.
  explicit Paths(const std::vector<HostPort>& places);

  std::size_t count() const noexcept { return paths_.size(); }
  const HostPort& place(std::size_t path) const noexcept { return paths_[path].status.place; }
  bool is_up(std::size_t path) const noexcept { return paths_[path].status.is_up; }
  const std::string& device(std::size_t path) const noexcept { return paths_[path].status.device; }

  /// How many addresses a path has, and the one to try now: what answered last.
  std::size_t addresses(std::size_t path) const noexcept { return paths_[path].addresses.size(); }
  const SocketAddress& address(std::size_t path) const noexcept {
    return paths_[path].addresses[paths_[path].current];
  }

  /// That one does not answer: the next is to be tried.
  void skip_address(std::size_t path) noexcept;

  /// All paths, in the order in which the session's own connection is to try them.
  std::vector<std::size_t> for_admin() const;

  /// Those that work, in the order in which a queue's connection is to try them: its own first, as
  /// long as that works.
  std::vector<std::size_t> for_queue(unsigned number) const;

  /// The session's own connection goes over this one.
  void set_admin(std::size_t path) noexcept;
  std::size_t admin() const noexcept { return admin_; }

  void set_device(std::size_t path, const std::string& device);

  /// @return whether it was up.
  bool set_down(std::size_t path, const std::string& why);
  /// @return whether it was down.
  bool set_up(std::size_t path);

  /// Counters for a queue on a path, which are part of the path's for good.
  std::shared_ptr<PathUse> count_for(std::size_t path);

  /// Of those that are in use.
  std::vector<std::shared_ptr<const PathUse>> uses(std::size_t path) const;

  std::vector<PathStatus> status() const;

 private:
  struct Path {
    PathStatus status;  ///< but for what is counted
    std::vector<SocketAddress> addresses;
    std::size_t current = 0;
    std::vector<std::shared_ptr<PathUse>> uses;
  };

  mutable std::mutex mutex_;  ///< of changes, and of what status() sees
  std::vector<Path> paths_;
  std::size_t admin_ = 0;
};

}  // namespace rdmablk::initiator
