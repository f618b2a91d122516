#include "target/memory_backing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/memfd.h>
#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "common/numa.h"
#include "common/units.h"
#include "target/cancellation.h"
#include "target/machine_memory.h"
#include "target/memory_pieces.h"

namespace rdmablk::target {
namespace {

/// What a thread allocates at a time, unless a page is larger.
constexpr std::uint64_t kPiece = std::uint64_t{16} << 20;

/// The addresses that are kept free for it, in bytes and in times of its size: they cost nothing.
constexpr std::size_t kRoom = std::size_t{64} << 30;
constexpr std::size_t kGrowth = 8;

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
    : name_(name), huge_page_(huge_page), node_(node), size_(size), fd_(create(name, huge_page)) {
  const std::size_t bytes = whole_pages(size_);
  size_file(bytes);
  reserve(bytes);
  map(bytes);
  place(0);
  allocate(0, cancellation);
  // What was sealed stays: a shrunken file would answer with SIGBUS.
  if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    throw SystemError(fmt::format("seal the memory of export '{}'", name), errno);
  }
}

MemoryBacking::MemoryBacking(const std::string& name, UniqueFd fd, std::uint64_t size,
                             std::uint64_t huge_page, std::uint64_t before)
    : name_(name), huge_page_(huge_page), size_(size), fd_(std::move(fd)) {
  const std::size_t bytes = whole_pages(size_);
  size_file(bytes);
  reserve(bytes);
  map(bytes);
  clear(std::min<std::uint64_t>(before, bytes), bytes);
  allocate(0);
}

std::size_t MemoryBacking::whole_pages(std::uint64_t size) const noexcept {
  return round_up(size, huge_page_ != 0 ? huge_page_ : page_size());
}

void MemoryBacking::grow(std::uint64_t size) {
  const std::size_t bytes = whole_pages(size);
  if (bytes > addresses_.size()) {
    throw Error(fmt::format(
        "cannot make {} of memory for export '{}': it can grow to {} without moving; more takes a "
        "restart of the target",
        format_size(size), name_, format_size(addresses_.size())));
  }
  const std::size_t before = mapped_;
  size_file(bytes);
  clear(size_, before);
  if (bytes > before) {
    try {
      map(bytes);
      place(before);
      clear(before, bytes);  // what was cut off once may still be there
      allocate(before);
    } catch (...) {
      unmap(before);
      throw;
    }
  }
  size_ = size;
}

void MemoryBacking::shrink(std::uint64_t size) noexcept {
  clear(size, mapped_);
  unmap(std::min(mapped_, whole_pages(size)));
  size_ = size;
}

/// Makes it zero, by giving back the pages that lie in it.
void MemoryBacking::clear(std::size_t from, std::size_t to) noexcept {
  const std::size_t page = std::min(whole_pages(from), to);
  if (page > from) std::memset(addresses_.data() + from, 0, page - from);
  if (to == page) return;
  constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(fd_.get(), kPunch, static_cast<off_t>(page), static_cast<off_t>(to - page)) ==
      0) {
    return;
  }
  spdlog::warn("export '{}': cannot give memory back: {}", name_, errno_text(errno));
  if (to <= mapped_) std::memset(addresses_.data() + page, 0, to - page);
}

/// It never gets shorter: what lies behind belongs to nobody.
void MemoryBacking::size_file(std::size_t bytes) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) == 0 && static_cast<std::size_t>(status.st_size) >= bytes) return;
  if (::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    throw SystemError(fmt::format("make {} of memory for export '{}'", format_size(bytes), name_),
                      errno);
  }
}

void MemoryBacking::reserve(std::size_t bytes) {
  addresses_ = ReservedAddresses(std::max(kRoom, kGrowth * bytes), bytes,
                                 std::max<std::size_t>(huge_page_, page_size()));
}

/// Maps what is not mapped yet.
void MemoryBacking::map(std::size_t bytes) {
  std::byte* const start = addresses_.data() + mapped_;
  const std::size_t length = bytes - mapped_;
  if (::mmap(start, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_.get(),
             static_cast<off_t>(mapped_)) == MAP_FAILED) {
    const int error = errno;
    addresses_.take_back(mapped_);
    // Huge pages are reserved by mapping them.
    if (huge_page_ != 0 && error == ENOMEM) fail_without_pool(name_, length, huge_page_);
    throw SystemError(fmt::format("map {} of memory", format_size(length)), error);
  }
  mapped_ = bytes;
  ::madvise(start, length, MADV_DONTDUMP);
  // Where the administrator has set transparent huge pages of shared memory to `advise`, all of it
  // is allocated and registered several times faster; elsewhere this changes nothing.
  if (huge_page_ == 0) ::madvise(start, length, MADV_HUGEPAGE);
}

/// Gives back what is mapped from there on.
void MemoryBacking::unmap(std::size_t bytes) noexcept {
  if (bytes >= mapped_) return;
  clear(bytes, mapped_);
  addresses_.take_back(bytes);
  mapped_ = bytes;
}

/// Before the first touch: what is allocated stays where it is.
void MemoryBacking::place(std::size_t from) const {
  if (!node_) return;
  if (const int error = prefer_node({addresses_.data() + from, mapped_ - from}, *node_)) {
    spdlog::warn(
        "export '{}': cannot take its memory from NUMA node {}, where its RDMA device is ({}); the "
        "kernel chooses, and it may be slower",
        name_, *node_, errno_text(error));
  }
}

void MemoryBacking::allocate(std::size_t from, const Cancellation* cancellation) {
  const auto populate = [&](std::size_t, std::span<std::byte> piece) {
    if (cancellation != nullptr) cancellation->check();
    if (::madvise(piece.data(), piece.size(), MADV_POPULATE_WRITE) == 0) return;
    throw SystemError(
        fmt::format("allocate {} of memory for export '{}'", format_size(mapped_ - from), name_),
        errno);
  };
  for_each_piece({addresses_.data() + from, mapped_ - from}, std::max(kPiece, huge_page_), node_,
                 populate);
}

}  // namespace rdmablk::target
