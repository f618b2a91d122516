#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/protocol/io_messages.h"
#include "common/unique_fd.h"
#include "target/direct_io.h"
#include "target/export_spec.h"
#include "target/file_opening.h"

namespace rdmablk::target {

/// How long a lock that somebody holds is waited for: a daemon that was killed keeps its locks
/// until the kernel has done the last of its writes.
inline constexpr std::chrono::seconds kLockWait{10};

/// The size of an export's file, in bytes, which must be what spec.file_size says, if it says
/// anything. Throws Error.
std::uint64_t checked_size(const ExportSpec& spec, const OpenedFile& file);

/// Checks that a block device that is to be written takes writes. Throws Error.
void check_protection(const ExportSpec& spec, const OpenedFile& file);

/// Sets the descriptor to direct I/O where spec.direct and the file allow it. Throws Error.
DirectSupport choose_direct(const ExportSpec& spec, int fd, std::uint64_t size);

/// The regular file or block device behind an export: one open descriptor, which also holds the
/// locks (fcntl(2) F_OFD_SETLK and flock(2)) that keep others away, as long as the object lives
/// and as long as I/O on the descriptor is under way. Readers may share a file with readers.
///
/// Immutable once kept, but for its size: any thread may use it at any time. The descriptor's file
/// offset belongs to map(); I/O gives its own offsets (pread(2), io_uring). Bytes that are read or
/// written at once must keep to alignment(), and their memory to a page; whoever uses the
/// descriptor never changes the file's size.
class BackingFile {
 public:
  /// Opens the file, or makes it (mode 0600, with its directory entry on stable storage) when it
  /// is missing and spec.file_size is given; what was made is gone again when this fails, or when
  /// the object ends without keep().
  /// @param spec of a kind with a file.
  /// @param lock_wait how long to retry when another has locked the file; blocks that long.
  /// Throws Error, which names the export and the file: missing, no regular file or block device,
  /// of another size, locked, in use, no room, no direct I/O though spec.direct is `on`.
  explicit BackingFile(const ExportSpec& spec, std::chrono::milliseconds lock_wait = kLockWait);

  /// It is going to be served: a file that was made stays.
  void keep() noexcept;

  int fd() const noexcept { return fd_.get(); }

  /// Bytes; not zero, a multiple of 512, and of alignment().
  std::uint64_t size() const noexcept { return size_; }

  /// Says how much of it is to be used from now on, which is there. Any thread.
  void set_size(std::uint64_t size) noexcept { size_ = size; }

  /// Whether it can be given another size, or be looked at only whether it has got one: a block
  /// device, and a file that is only read.
  bool can_resize() const noexcept { return !block_device_ && !read_only_; }

  /// Checks that one that cannot be resized has so many bytes by now. Throws Error.
  void check_has(std::uint64_t size) const;

  /// How many bytes it has now; nothing when it does not say.
  std::optional<std::uint64_t> found_size() const noexcept;

  /// Makes the file longer, by zeroes, on stable storage, without using them yet.
  /// @param sparse whether space is taken only when it is written to. Throws Error.
  void grow(std::uint64_t size, bool sparse);

  /// Makes it as long as is used. Throws Error.
  void truncate();

  bool is_direct() const noexcept { return direct_.block != 0; }

  /// What the offset and length of every read and write on fd() must be multiples of, in bytes:
  /// a power of two from 512 to 65536, or 1 when the file is buffered. Memory must lie at a
  /// multiple of it or of a page, whichever is less.
  std::uint32_t alignment() const noexcept { return is_direct() ? direct_.block : 1; }

  /// What is best read and written at once, in bytes: alignment(), or 4096 when it is buffered.
  std::uint32_t block_size() const noexcept { return is_direct() ? direct_.block : kBufferedBlock; }

  bool is_block_device() const noexcept { return block_device_; }
  bool read_only() const noexcept { return read_only_; }

  /// The path as it was asked for, absolute.
  const std::string& path() const noexcept { return path_; }

  /// The path's last part, which is all that others are told.
  std::string_view base_name() const noexcept;

  /// For the log: "disk.img, direct, block 512", "disk.img, buffered: the file system takes no
  /// direct I/O".
  std::string describe() const;

  /// Finds what of [offset, offset + length) is stored, as far as `into` has room: extents that
  /// follow one another without a gap, the first at `offset`, neighbours of different kinds. Of a
  /// block device everything counts as stored. What others write meanwhile may or may not show.
  /// @param count gets how many were filled in; zero at the end of the file and beyond.
  /// @return 0 or an errno value. May block on the disk.
  int map(std::uint64_t offset, std::uint64_t length, std::span<protocol::Extent> into,
          std::size_t& count) const noexcept;

 private:
  static constexpr std::uint32_t kBufferedBlock = 4096;

  std::string path_;
  bool read_only_;
  bool block_device_ = false;
  std::atomic<std::uint64_t> size_ = 0;
  DirectSupport direct_;
  UniqueFd fd_;
  std::optional<CreatedFile> created_;
};

}  // namespace rdmablk::target
