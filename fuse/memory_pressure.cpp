#include "fuse/memory_pressure.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <spdlog/spdlog.h>

#include "common/error.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::fuse {

void brace_for_memory_pressure() noexcept {
  if (::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) != 0) {
    spdlog::debug("PR_SET_IO_FLUSHER: {}", std::strerror(errno));
  }
  // Under a limit, locked pages would take the room of registered memory.
  const bool unlimited = verbs::memlock_limit() == UINT64_MAX;
  if (unlimited && ::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
    spdlog::debug("mlockall: {}", std::strerror(errno));
  }
}

}  // namespace rdmablk::fuse
