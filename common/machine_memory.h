#pragma once

#include <cstdint>
#include <string>

namespace rdmablk {

/// What /proc/meminfo says of this machine's memory (proc_meminfo(5)), in bytes.
struct MachineMemory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  ///< without swapping
  std::uint64_t huge_page = 0;  ///< the default size of huge pages; zero: there are none
};

/// Throws SystemError.
MachineMemory read_machine_memory();

/// Memory of a machine for people, who do not want to read its odd kilobytes: "23.4 GiB".
std::string in_round_numbers(std::uint64_t bytes);

}  // namespace rdmablk
