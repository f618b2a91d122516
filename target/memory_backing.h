#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/memory_mapping.h"
#include "common/unique_fd.h"

namespace rdmablk::target {

class Cancellation;

/// The memory of an export: one memfd (memfd_create(2)), mapped shared. All of its pages are
/// allocated and zero, so that neither a device nor a process meets a page that cannot be had;
/// it is sealed against shrinking, and no part of a core dump.
class MemoryBacking {
 public:
  /// @param name of the export; shows in /proc/PID/maps.
  /// @param size bytes; not zero, need be no multiple of a page.
  /// @param huge_page bytes of a huge page, zero for the usual ones.
  /// @param node the NUMA node to take the pages from as long as it has any; nothing: the kernel
  /// chooses, which it does, too, where it knows no such policy; then a warning is logged.
  /// @param cancellation ends it early; null: nothing does.
  /// Throws Error, which names the pool when there are not enough huge pages.
  MemoryBacking(const std::string& name, std::uint64_t size, std::uint64_t huge_page,
                std::optional<int> node = std::nullopt, const Cancellation* cancellation = nullptr);

  /// Takes over what another process had, as it is.
  /// @param fd a sealed memfd of these sizes. Throws Error.
  MemoryBacking(const std::string& name, UniqueFd fd, std::uint64_t size, std::uint64_t huge_page);

  /// What is served: exactly `size` bytes. Behind them lies the rest of the last page.
  std::span<std::byte> bytes() const noexcept { return mapping_.bytes().first(size_); }

  int fd() const noexcept { return fd_.get(); }

  /// Gives the memfd away: it is mapped as long as this lives.
  UniqueFd release() noexcept { return std::move(fd_); }

 private:
  void size_file(const std::string& name, std::uint64_t huge_page);
  void map(const std::string& name, std::uint64_t huge_page);
  void place(const std::string& name, int node) const;
  void allocate(const std::string& name, std::uint64_t huge_page, std::optional<int> node,
                const Cancellation* cancellation);

  std::size_t size_;
  UniqueFd fd_;
  MemoryMapping mapping_;
};

}  // namespace rdmablk::target
