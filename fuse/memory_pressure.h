#pragma once

namespace rdmablk::fuse {

/// Prepares a process that writes of the page cache may depend on (a loop device or swap on its
/// mount) for memory running out: memory that it allocates is not made by writing to itself
/// (PR_SET_IO_FLUSHER, prctl(2)), and what it has touched stays in memory (mlockall(2) with
/// MCL_ONFAULT). Each as far as the process is permitted. To be called before threads start, which
/// inherit it.
void brace_for_memory_pressure() noexcept;

}  // namespace rdmablk::fuse
