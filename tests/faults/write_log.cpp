#include "tests/faults/write_log.h"

#include <endian.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"

namespace rdmablk::testing {

namespace {

constexpr std::uint64_t kMagic = 0x6a736677736872;
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kLongest = std::uint64_t{1} << 30U;  // bytes that one entry may write

// As on the disk, little-endian.
struct RawSuper {
  std::uint64_t magic;
  std::uint64_t version;
  std::uint64_t entries;
  std::uint32_t sector_size;
};

struct RawEntry {
  std::uint64_t sector;
  std::uint64_t sectors;
  std::uint64_t flags;
  std::uint64_t data_length;
};

}  // namespace

WriteLog::WriteLog(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_) throw SystemError("open " + path, errno);
  RawSuper super{};
  std::memcpy(&super, read(512).data(), sizeof super);
  const std::uint64_t sector_size = le32toh(super.sector_size);
  if (le64toh(super.magic) != kMagic || le64toh(super.version) != kVersion || sector_size < 512 ||
      sector_size > 65536) {
    throw Error(path + " holds no log of device mapper's log-writes");
  }
  entries_ = le64toh(super.entries);
  sector_size_ = sector_size;
  position_ = sector_size;
}

std::vector<std::byte> WriteLog::read(std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t done = 0; done < length;) {
    const ssize_t got = ::pread(file_.get(), bytes.data() + done, length - done,
                                static_cast<off_t>(position_ + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError(fmt::format("read {} at {}", path_, position_), errno);
    if (got == 0) throw Error(fmt::format("{} ends within entry {}", path_, index_));
    done += static_cast<std::size_t>(got);
  }
  position_ += length;
  return bytes;
}

std::optional<WriteLog::Entry> WriteLog::next() {
  if (index_ == entries_) return std::nullopt;
  const std::vector<std::byte> sector = read(sector_size_);
  RawEntry raw{};
  std::memcpy(&raw, sector.data(), sizeof raw);
  Entry entry{.index = index_,
              .flags = le64toh(raw.flags),
              .offset = le64toh(raw.sector) * sector_size_,
              .length = le64toh(raw.sectors) * sector_size_,
              .mark = {},
              .data = {}};
  if ((entry.flags & kMark) != 0) {
    const std::uint64_t room = sector.size() - sizeof raw;
    const std::uint64_t length = std::min(le64toh(raw.data_length), room);
    const auto* text = reinterpret_cast<const char*>(sector.data() + sizeof raw);
    entry.mark.assign(text, ::strnlen(text, length));
  } else if ((entry.flags & kDiscard) == 0) {
    if (entry.length > kLongest) {
      throw Error(fmt::format("{}: entry {} cannot be right: it writes {} bytes", path_, index_,
                              entry.length));
    }
    entry.data = read(entry.length);
  }
  ++index_;
  return entry;
}

}  // namespace rdmablk::testing
