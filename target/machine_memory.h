#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/machine_memory.h"
#include "target/export_spec.h"

namespace rdmablk::target {

/// Checks that the exports together fit into memory; those of huge pages come out of a pool of
/// their own and are not counted. Throws Error, which says how much there is.
void check_memory(const std::vector<ExportSpec>& specs, const MachineMemory& memory);

/// Whether this machine can have huge pages of `page` bytes.
bool has_huge_pages(std::uint64_t page);

/// A pool of huge pages.
struct HugePagePool {
  std::uint64_t page = 0;        ///< bytes
  std::uint64_t free_pages = 0;  ///< neither used nor reserved
  std::string file;              ///< where its size is set
};

/// The pool of huge pages of `page` bytes.
/// @param memory tells whether it is the default one, which has a file of its own in /proc.
HugePagePool read_huge_page_pool(std::uint64_t page, const MachineMemory& memory);

}  // namespace rdmablk::target
