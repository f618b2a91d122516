// softverbs-copies PID: prints how many copies from and to the memory of process PID have begun and
// not ended, on the software device.
//
// For tests that stop a process. One that stops in the middle of a copy holds up its peer until it
// goes on, as no adapter does (the limits in common/softverbs/README.md): who has stopped it sees
// here whether that is so, and lets it go on for a moment.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "common/memory_mapping.h"
#include "common/softverbs/verbs/shared_table.h"
#include "common/unique_fd.h"

namespace {

using softverbs::SharedTable;

bool is_table(const std::filesystem::path& link) {
  std::error_code gone;
  return std::filesystem::read_symlink(link, gone).string().starts_with("/memfd:softverbs ");
}

long copies_in(const std::filesystem::path& file) {
  const rdmablk::UniqueFd fd(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return 0;
  if (static_cast<std::size_t>(status.st_size) != sizeof(SharedTable)) return 0;
  const auto mapping = rdmablk::MemoryMapping::shared(fd.get(), sizeof(SharedTable));
  const auto& queue_pairs =
      reinterpret_cast<const SharedTable*>(mapping.bytes().data())->queue_pairs;
  return std::count_if(std::begin(queue_pairs), std::end(queue_pairs), [](const auto& queue_pair) {
    return softverbs::BusyWord::is_held(queue_pair.busy);
  });
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fputs("usage: softverbs-copies PID\n", stderr);
    return 2;
  }
  // A process has its own table, and those of its peers that it has mapped: these have no
  // descriptor.
  long copies = 0;
  const std::filesystem::path descriptors = std::filesystem::path("/proc") / argv[1] / "fd";
  for (const auto& entry : std::filesystem::directory_iterator(descriptors)) {
    if (is_table(entry.path())) copies += copies_in(entry.path());
  }
  std::printf("%ld\n", copies);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "softverbs-copies: %s\n", error.what());
  return 1;
}
