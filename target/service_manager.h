#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "target/inherited_memory.h"

namespace rdmablk::target {

/// The service manager that has started this process (systemd(1), or what speaks as it does: see
/// sd_notify(3)). Everything does nothing when there is none.
class ServiceManager {
 public:
  ServiceManager();

  bool is_there() const noexcept { return is_there_; }

  /// Takes the descriptors that an earlier process has left there. Once. Throws Error.
  void take_back(InheritedMemory& into) const;

  /// Of an export; each is one descriptor in the store.
  struct Stored {
    std::string name;  ///< memory_fd_name() and the like
    int fd = -1;       ///< of a memfd
  };

  /// Has descriptors kept, for the next process to take back.
  /// @return whether they are kept now: all of them, or none. Throws Error when only some are.
  bool store(std::span<const Stored> descriptors) const;

  /// Has what is kept of an export's memory let go.
  void remove_memory(const std::string& name) const noexcept;

  void tell_ready() const noexcept;
  void tell_stopping() const noexcept;

  /// Around a reload: it ends with tell_ready().
  void tell_reloading() const noexcept;

  /// One line for people, which `systemctl status` shows.
  void tell_status(const std::string& text) const noexcept;

  /// How often tell_alive() must be called at least, or the manager restarts this process; nothing:
  /// never. Throws Error when the manager says something else.
  std::optional<std::chrono::microseconds> watchdog_interval() const;
  void tell_alive() const noexcept;

 private:
  void remove(const std::string& descriptor) const noexcept;

  bool is_there_;
};

}  // namespace rdmablk::target
