#include "tests/fuzz/record_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <cstring>

namespace rdmablk::fuzz {
namespace {

constexpr std::size_t kSlot = 4096;
/// What a checksum covers: the magic and sequence numbers, and the record.
constexpr std::size_t kCovered = 16 + sizeof(target::MemoryRecord);

/// A memfd of some bytes, and with some seals: all that are needed, unless the input wants fewer.
UniqueFd make_memfd(std::uint64_t size, std::span<const std::byte> content, unsigned fewer) {
  UniqueFd fd(::memfd_create("record", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  require(::pwrite(fd.get(), content.data(), content.size(), 0) ==
                  static_cast<ssize_t>(content.size()) &&
              ::ftruncate(fd.get(), static_cast<off_t>(size)) == 0,
          "there is a memfd");
  const int seals = ((fewer & 1U) != 0 ? 0 : F_SEAL_SHRINK) | ((fewer & 2U) != 0 ? 0 : F_SEAL_GROW);
  require(::fcntl(fd.get(), F_ADD_SEALS, seals) == 0, "it is sealed");
  return fd;
}

}  // namespace

target::MemoryRecord record_of(std::string_view name, std::uint64_t size) {
  target::MemoryRecord record;
  target::set_text(record.name, name);
  record.size = size;
  record.lease = 1;
  return record;
}

RecordFile::RecordFile(Input& input, std::string_view name) : bytes_(2 * kSlot) {
  target::MemoryRecord record = record_of(name, std::uint64_t{64} << 10);
  if (name != "disk") record.kind = protocol::ExportKind::resident;
  if (input.flag()) record.size = input.number<std::uint64_t>();
  target::RecordMemory made(record);
  if (input.flag()) made.update(record);  // in the other slot, too
  require(::pread(made.fd(), bytes_.data(), bytes_.size(), 0) == 2 * kSlot, "a record is written");
  spoil(input);
  const auto seals = input.number();
  const std::uint64_t cut = (seals & 4U) != 0 ? input.number<std::uint16_t>() : bytes_.size();
  file_ = make_memfd(cut, bytes_, seals);
  const auto memory = input.number();
  const std::uint64_t size = (memory & 4U) != 0 ? input.number<std::uint32_t>() : 64U << 10U;
  memory_ = make_memfd(size, {}, memory);
}

void RecordFile::spoil(Input& input) {
  for (unsigned left = input.choice(8); left > 0; --left) {
    const std::size_t at = input.number<std::uint16_t>() % bytes_.size();
    bytes_[at] = input.array<std::array<std::byte, 1>>()[0];
  }
  if (!input.flag()) return;  // as damage is; else, as a process of another mind writes it
  for (const std::size_t slot : {std::size_t{0}, kSlot}) {
    boost::crc_optimal<64, 0x42F0E1EBA9EA3693, 0, 0, true, true> crc;
    crc.process_bytes(&bytes_[slot], kCovered);
    const std::uint64_t check = crc.checksum();
    std::memcpy(&bytes_[slot + kCovered], &check, sizeof check);
  }
}

}  // namespace rdmablk::fuzz
