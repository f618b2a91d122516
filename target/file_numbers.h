#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace rdmablk::target {

/// The numbers that files go by on the rings of all I/O threads: places in a table of fixed size.
/// One thread.
class FileNumbers {
 public:
  /// @param count how many there are.
  explicit FileNumbers(std::size_t count) : taken_(count, false) {}

  std::size_t size() const noexcept { return taken_.size(); }

  /// @return the lowest that is free; nothing when none is.
  std::optional<unsigned> take() noexcept;

  /// @pre the file is on no ring any more.
  void give_back(unsigned number) noexcept { taken_[number] = false; }

 private:
  std::vector<bool> taken_;
};

/// As many files as a ring may have: what the kernel and this process's limit of open ones allow,
/// and no more than anybody needs.
std::size_t most_files();

}  // namespace rdmablk::target
