#include "target/memory_backing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/memfd.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "common/error.h"
#include "common/numa.h"
#include "common/units.h"
#include "target/cancellation.h"
#include "target/machine_memory.h"
#include "target/memory_pieces.h"

namespace rdmablk::target {
namespace {

/// What a thread allocates at a time, unless a page is larger.
constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;

unsigned memfd_flags(std::uint64_t huge_page) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  if (huge_page == 0) return kFlags;
  const auto size_bits = static_cast<unsigned>(std::countr_zero(huge_page));
  return kFlags | MFD_HUGETLB | (size_bits << MFD_HUGE_SHIFT);
}

UniqueFd create(const std::string& name, std::uint64_t huge_page) {
  UniqueFd fd(::memfd_create(fmt::format("rdmablk-{}", name).c_str(), memfd_flags(huge_page)));
  if (fd) return fd;
  const int error = errno;
  if (huge_page != 0 && (error == ENODEV || error == EINVAL || error == ENOSYS)) {
    throw Error(
        fmt::format("cannot make memory for export '{}': this machine has no huge pages "
                    "of {}",
                    name, format_size(huge_page)));
  }
  throw SystemError(fmt::format("make memory for export '{}'", name), error);
}

[[noreturn]] void fail_without_pool(const std::string& name, std::uint64_t bytes,
                                    std::uint64_t huge_page) {
  const auto pool = read_huge_page_pool(huge_page, read_machine_memory());
  throw Error(
      fmt::format("cannot make memory for export '{}': it takes {} huge pages of {}, and {} are "
                  "free; raise the number in {}",
                  name, bytes / huge_page, format_size(huge_page), pool.free_pages, pool.file));
}

}  // namespace

MemoryBacking::MemoryBacking(const std::string& name, std::uint64_t size, std::uint64_t huge_page,
                             std::optional<int> node, const Cancellation* cancellation)
    : size_(size), fd_(create(name, huge_page)) {
  size_file(name, huge_page);
  map(name, huge_page);
  if (node) place(name, *node);
  allocate(name, huge_page, node, cancellation);
  // What was sealed stays: a shrunken file would answer with SIGBUS.
  if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    throw SystemError(fmt::format("seal the memory of export '{}'", name), errno);
  }
}

MemoryBacking::MemoryBacking(const std::string& name, UniqueFd fd, std::uint64_t size,
                             std::uint64_t huge_page)
    : size_(size), fd_(std::move(fd)) {
  map(name, huge_page);
  allocate(name, huge_page, std::nullopt, nullptr);
}

void MemoryBacking::size_file(const std::string& name, std::uint64_t huge_page) {
  const std::size_t bytes = round_up(size_, huge_page != 0 ? huge_page : page_size());
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    throw SystemError(fmt::format("make {} of memory for export '{}'", format_size(bytes), name),
                      errno);
  }
}

void MemoryBacking::map(const std::string& name, std::uint64_t huge_page) {
  const std::size_t bytes = round_up(size_, huge_page != 0 ? huge_page : page_size());
  try {
    mapping_ = MemoryMapping::shared(fd_.get(), bytes);
  } catch (const SystemError& error) {
    // Huge pages are reserved by mapping them.
    if (huge_page != 0 && error.error() == ENOMEM) fail_without_pool(name, bytes, huge_page);
    throw;
  }
  ::madvise(mapping_.data(), mapping_.size(), MADV_DONTDUMP);
  // Where the administrator has set transparent huge pages of shared memory to `advise`, all of it
  // is allocated and registered several times faster; elsewhere this changes nothing.
  if (huge_page == 0) ::madvise(mapping_.data(), mapping_.size(), MADV_HUGEPAGE);
}

/// Before the first touch: what is allocated stays where it is.
void MemoryBacking::place(const std::string& name, int node) const {
  if (const int error = prefer_node({mapping_.data(), mapping_.size()}, node)) {
    spdlog::warn(
        "export '{}': cannot take its memory from NUMA node {}, where its RDMA device is ({}); the "
        "kernel chooses, and it may be slower",
        name, node, errno_text(error));
  }
}

void MemoryBacking::allocate(const std::string& name, std::uint64_t huge_page,
                             std::optional<int> node, const Cancellation* cancellation) {
  const auto populate = [&](std::size_t, std::span<std::byte> piece) {
    if (cancellation != nullptr) cancellation->check();
    if (::madvise(piece.data(), piece.size(), MADV_POPULATE_WRITE) == 0) return;
    throw SystemError(
        fmt::format("allocate {} of memory for export '{}'", format_size(mapping_.size()), name),
        errno);
  };
  for_each_piece(mapping_.bytes(), std::max(kPiece, huge_page), node, populate);
}

}  // namespace rdmablk::target
