#include "common/softverbs/verbs/memfd_range.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace softverbs {
namespace {

/// A line of /proc/self/maps.
struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  bool shared = false;
  uint64_t offset = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
};

/// The mappings of this process, in the order of their addresses.
class MappingReader {
 public:
  MappingReader() : file_(std::fopen("/proc/self/maps", "re"), &std::fclose) {}
  ~MappingReader() { std::free(line_); }
  MappingReader(const MappingReader&) = delete;
  MappingReader& operator=(const MappingReader&) = delete;

  /// \return nothing at the end, and when the list cannot be read.
  std::optional<Mapping> next() {
    if (!file_ || getline(&line_, &capacity_, file_.get()) < 0) return std::nullopt;
    Mapping mapping;
    char permissions[5] = {};
    unsigned major = 0;
    unsigned minor = 0;
    const int fields =
        std::sscanf(line_, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &mapping.start,
                    &mapping.end, permissions, &mapping.offset, &major, &minor, &mapping.inode);
    if (fields != 7) return std::nullopt;
    mapping.shared = permissions[3] == 's';
    mapping.device = makedev(major, minor);
    return mapping;
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
  char* line_ = nullptr;
  size_t capacity_ = 0;
};

/// A piece of a file.
struct FileRange {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t offset = 0;
};

std::optional<FileRange> find_file(uint64_t address, size_t length) {
  MappingReader mappings;
  std::optional<FileRange> found;
  uint64_t reached = address;
  while (const auto mapping = mappings.next()) {
    if (mapping->end <= reached) continue;
    if (mapping->start > reached || !mapping->shared || mapping->inode == 0) break;
    const uint64_t offset = mapping->offset + (reached - mapping->start);
    if (!found) found = {mapping->device, mapping->inode, offset};
    const bool continues = mapping->device == found->device && mapping->inode == found->inode &&
                           offset == found->offset + (reached - address);
    if (!continues) break;
    reached = mapping->end;
    if (reached >= address + length) return found;
  }
  return std::nullopt;
}

bool is_file(int fd, uint64_t device, uint64_t inode) {
  struct stat status {};
  return fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/// A copy of a descriptor that this process has of a file; none when it has none.
FileDescriptor copy_descriptor(uint64_t device, uint64_t inode) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/fd"), &closedir);
  while (const dirent* entry = directory ? readdir(directory.get()) : nullptr) {
    char* end = nullptr;
    const long number = std::strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || !is_file(static_cast<int>(number), device, inode)) continue;
    FileDescriptor copy(fcntl(static_cast<int>(number), F_DUPFD_CLOEXEC, 0));
    // Another thread may have closed the number and opened something else under it.
    if (copy && is_file(copy.get(), device, inode)) return copy;
  }
  return {};
}

bool keeps_its_size(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

bool holds(int fd, uint64_t end) {
  struct stat status {};
  return fstat(fd, &status) == 0 && end <= static_cast<uint64_t>(status.st_size);
}

}  // namespace

std::optional<MemfdRange> MemfdRegistry::find(uint64_t address, size_t length) {
  const auto range = find_file(address, length);
  if (!range) return std::nullopt;
  auto memfd = descriptor_of({range->device, range->inode});
  if (!memfd || !holds(memfd->get(), range->offset + length)) return std::nullopt;
  return MemfdRange{std::move(memfd), range->offset};
}

std::shared_ptr<const FileDescriptor> MemfdRegistry::descriptor_of(const FileId& file) {
  std::lock_guard lock(mutex_);
  if (const auto known = known_.find(file); known != known_.end()) {
    if (auto memfd = known->second.lock()) return memfd;
  }
  FileDescriptor copy = copy_descriptor(file.first, file.second);
  if (!copy || !keeps_its_size(copy.get())) return nullptr;
  std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  auto memfd = std::make_shared<const FileDescriptor>(std::move(copy));
  known_[file] = memfd;
  return memfd;
}

}  // namespace softverbs
