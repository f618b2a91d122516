#include "tests/hot_path/counter.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace hot_path {

namespace {

using Counters = std::atomic<std::uint64_t>[kOrigins][kKinds];

struct Code {
  std::uintptr_t start;
  std::uintptr_t end;
  Origin origin;
};

// Functions that are called by the C library have no other place to keep anything in.
Counters* counters = nullptr;
std::array<Code, 16> foreign{};
std::size_t foreign_count = 0;

/// Whose code an object of the program is.
Origin origin_of(std::string_view object) noexcept {
  if (object.find("/libfuse3.") != object.npos) return libfuse;
  for (const std::string_view name : {"/libibverbs", "/librdmacm", "/libsoftverbs"}) {
    if (object.find(name) != object.npos) return device;
  }
  return ours;
}

int note_object(dl_phdr_info* object, std::size_t /*size*/, void* /*data*/) noexcept {
  const Origin origin = origin_of(object->dlpi_name);
  for (std::size_t i = 0; origin != ours && i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (foreign_count == foreign.size()) std::abort();
    const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    foreign[foreign_count++] = {start, start + segment.p_memsz, origin};
  }
  return 0;
}

[[gnu::constructor]] void begin() noexcept {
  const char* const path = std::getenv("HOT_PATH_COUNTS");
  if (path == nullptr || std::strcmp(::program_invocation_short_name, "rdmablk-fuse") != 0) return;
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Counters)) != 0) std::abort();
  void* const place = ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (place == MAP_FAILED) std::abort();
  ::close(fd);
  ::dl_iterate_phdr(&note_object, nullptr);
  counters = static_cast<Counters*>(place);
}

}  // namespace

void count(Kind kind, const void* caller) noexcept {
  // What other threads do depends on time, and not on requests.
  static thread_local bool serves_requests = false;
  if (kind == reply) serves_requests = true;
  if (counters == nullptr || !serves_requests) return;
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  Origin origin = ours;
  for (std::size_t i = 0; i < foreign_count; ++i) {
    if (address >= foreign[i].start && address < foreign[i].end) origin = foreign[i].origin;
  }
  (*counters)[origin][kind].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace hot_path
