#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/unique_fd.h"
#include "target/reserved_addresses.h"

namespace rdmablk::target {

class Cancellation;

/// The memory of an export: one memfd (memfd_create(2)), mapped shared. All of its pages are
/// allocated and zero, so that neither a device nor a process meets a page that cannot be had;
/// it is sealed against shrinking, and no part of a core dump. It may grow, and give memory back
/// again, in place; its file never gets shorter.
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
  /// @param fd a sealed memfd. @param before bytes that were served of it; what lies behind them
  /// becomes zero. Throws Error.
  MemoryBacking(const std::string& name, UniqueFd fd, std::uint64_t size, std::uint64_t huge_page,
                std::uint64_t before);
  ~MemoryBacking() = default;
  MemoryBacking(const MemoryBacking&) = delete;
  MemoryBacking& operator=(const MemoryBacking&) = delete;

  /// What is served: exactly `size` bytes. Behind them lies the rest of the last page. It stays
  /// where it is when the size changes.
  std::span<std::byte> bytes() const noexcept { return {addresses_.data(), size_}; }

  /// Gets larger, by zeroes. Throws Error, and is what it was then.
  void grow(std::uint64_t size);

  /// Gets smaller, and gives back what it can. @pre no device reaches what is cut off.
  void shrink(std::uint64_t size) noexcept;

  int fd() const noexcept { return fd_.get(); }

  /// Gives the memfd away: it is mapped as long as this lives.
  UniqueFd release() noexcept { return std::move(fd_); }

 private:
  void size_file(std::size_t bytes);
  void reserve(std::size_t bytes);
  void map(std::size_t bytes);
  void unmap(std::size_t bytes) noexcept;
  void place(std::size_t from) const;
  void allocate(std::size_t from, const Cancellation* cancellation = nullptr);
  void clear(std::size_t from, std::size_t to) noexcept;
  std::size_t whole_pages(std::uint64_t size) const noexcept;

  std::string name_;
  std::uint64_t huge_page_;
  std::optional<int> node_;
  std::size_t size_;
  std::size_t mapped_ = 0;  ///< bytes, of whole pages
  UniqueFd fd_;
  ReservedAddresses addresses_;
};

}  // namespace rdmablk::target
