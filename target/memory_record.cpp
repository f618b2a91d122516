#include "target/memory_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "common/error.h"
#include "common/export_name.h"

namespace rdmablk::target {
namespace {

constexpr std::uint64_t kMagic = 0x6b6c'626d'6172'0001;           // and the version
constexpr std::uint64_t kSlot = 4096;                             // bytes; there are two
constexpr auto kMaxSize = static_cast<std::uint64_t>(INT64_MAX);  // as of files
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

/// A record as it lies in a slot. Two slots are written in turn: one is always whole.
struct Slot {
  std::uint64_t magic = kMagic;
  std::uint64_t sequence = 0;
  MemoryRecord record;
  std::uint64_t check = 0;
};
static_assert(std::is_trivially_copyable_v<Slot> && sizeof(Slot) <= kSlot);
static_assert(std::has_unique_object_representations_v<Slot>, "no bytes that are not set");

std::uint64_t check_of(const Slot& slot) {
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, 0, 0, true, true> crc;
  crc.process_bytes(&slot, offsetof(Slot, check));
  return crc.checksum();
}

/// What is neither true nor false must not get into a bool.
bool has_bools(std::span<const std::byte> slot) {
  const auto record = slot.subspan(offsetof(Slot, record));
  return record[offsetof(MemoryRecord, is_dirty)] <= std::byte{1} &&
         record[offsetof(MemoryRecord, is_suspect)] <= std::byte{1} &&
         record[offsetof(MemoryRecord, is_resized)] <= std::byte{1} &&
         record[offsetof(MemoryRecord, is_unused)] <= std::byte{1};
}

std::optional<Slot> read_slot(int fd, std::uint64_t number) {
  std::array<std::byte, sizeof(Slot)> bytes{};
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(number * kSlot));
  if (got != static_cast<ssize_t>(bytes.size())) return std::nullopt;
  Slot slot;
  std::uint64_t check = 0;
  std::memcpy(&check, bytes.data() + offsetof(Slot, check), sizeof check);
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693, 0, 0, true, true> crc;
  crc.process_bytes(bytes.data(), offsetof(Slot, check));
  if (crc.checksum() != check || !has_bools(bytes)) return std::nullopt;
  std::memcpy(&slot, bytes.data(), sizeof slot);
  if (slot.magic != kMagic || slot.sequence % 2 != number) return std::nullopt;
  return slot;
}

void check_record(const MemoryRecord& record) {
  const bool is_text = record.name.back() == '\0' && record.changed.back() == '\0';
  const bool is_size = record.size > 0 && record.size <= kMaxSize;
  const bool is_kind =
      record.kind == protocol::ExportKind::memory || record.kind == protocol::ExportKind::resident;
  if (!is_text || !is_export_name(text_of(record.name)) || !is_size || !is_kind ||
      record.lease == 0) {
    throw Error("says nothing that makes sense");
  }
}

}  // namespace

bool is_in_file(const MemoryRecord& record) noexcept {
  return !record.is_dirty && record.changed.front() != '\0';
}

RecordMemory::RecordMemory(const MemoryRecord& record)
    : fd_(::memfd_create("rdmablk-identity", MFD_CLOEXEC | MFD_ALLOW_SEALING)), record_(record) {
  // All of its pages are there from now on: to write them cannot fail.
  if (!fd_ || ::fallocate(fd_.get(), 0, 0, 2 * kSlot) != 0 ||
      ::fcntl(fd_.get(), F_ADD_SEALS, kSeals) != 0) {
    throw SystemError("make memory for the identity of an export", errno);
  }
  write();
}

RecordMemory::RecordMemory(UniqueFd fd) : fd_(std::move(fd)) {
  const int seals = ::fcntl(fd_.get(), F_GET_SEALS);
  if (seals < 0) throw Error("is no memfd");
  struct stat status {};
  if ((seals & kSeals) != kSeals || ::fstat(fd_.get(), &status) != 0 ||
      status.st_size != 2 * kSlot) {
    throw Error("is not sealed, or of the wrong size");
  }
  std::optional<Slot> newest;
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}}) {
    const auto slot = read_slot(fd_.get(), number);
    if (slot && (!newest || slot->sequence > newest->sequence)) newest = slot;
  }
  if (!newest) throw Error("is damaged, or of another version of this program");
  record_ = newest->record;
  sequence_ = newest->sequence;
  check_record(record_);
}

void RecordMemory::update(const MemoryRecord& record) noexcept {
  record_ = record;
  write();
}

void RecordMemory::write() noexcept {
  Slot slot;
  slot.sequence = ++sequence_;
  slot.record = record_;
  slot.check = check_of(slot);
  ssize_t written = 0;
  do {
    written =
        ::pwrite(fd_.get(), &slot, sizeof slot, static_cast<off_t>(slot.sequence % 2 * kSlot));
  } while (written < 0 && errno == EINTR);
}

}  // namespace rdmablk::target
