#include "target/file_fingerprint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "common/hex.h"
#include "common/unique_fd.h"
#include "target/boot_id.h"

namespace rdmablk::target {
namespace {

using Digest = std::array<std::byte, 32>;

Digest digest_of(const std::string& text) {
  Digest digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), &size,
                 EVP_sha256(), nullptr) != 1) {
    throw Error("cannot compute a SHA-256");
  }
  return digest;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

/// The first line of a small file; empty when there is none.
std::string line_of(const std::string& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

/// What the device, whatever its number and node, is known by: empty when it says nothing.
std::string device_name(const std::string& sysfs) {
  if (const auto mapped = line_of(sysfs + "/dm/uuid"); !mapped.empty()) return "dm " + mapped;
  const auto partition = line_of(sysfs + "/partition");
  const std::string disk = partition.empty() ? sysfs : sysfs + "/..";
  std::string name = line_of(disk + "/wwid");
  if (name.empty()) name = line_of(disk + "/device/wwid");
  if (name.empty()) return {};
  return partition.empty() ? "disk " + name : fmt::format("disk {} part {}", name, partition);
}

FileFingerprint of_device(dev_t device, const std::string& path) {
  const auto sysfs = fmt::format("/sys/dev/block/{}:{}", major(device), minor(device));
  std::string name = device_name(sysfs);
  if (!name.empty()) return {"device " + name, name, {}};
  // Nothing says after the next boot that it is the same one.
  std::string number = line_of(sysfs + "/diskseq");
  if (number.empty()) number = line_of(sysfs + "/../diskseq");
  return {"device at " + real_path(path), fmt::format("{} of boot {}", number, read_boot_id()), {}};
}

FileFingerprint of_file(const struct statx& status, const std::string& path) {
  FileFingerprint file;
  file.key = "file " + real_path(path);
  file.incarnation = fmt::format("inode {}", status.stx_ino);
  // A number may be given again.
  if ((status.stx_mask & STATX_BTIME) != 0) {
    file.incarnation +=
        fmt::format(" born {}.{:09}", status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
  }
  file.changed = fmt::format("{}.{:09}", status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec);
  return file;
}

}  // namespace

std::string FileFingerprint::file_name() const {
  const Digest digest = digest_of(key);
  return hex(std::span(digest).first(16));
}

protocol::Uuid FileFingerprint::derive_uuid(const std::string& more) const {
  const Digest digest =
      digest_of(fmt::format("{}\n{}\n{}\n{}", line_of("/etc/machine-id"), key, incarnation, more));
  protocol::Uuid uuid{};
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  uuid[6] = (uuid[6] & std::byte{0x0f}) | std::byte{0x80};  // RFC 9562, version 8
  uuid[8] = (uuid[8] & std::byte{0x3f}) | std::byte{0x80};
  return uuid;
}

FileFingerprint fingerprint_of(int fd, const std::string& path) {
  struct statx status {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) {
    throw SystemError(fmt::format("look at {}", path), errno);
  }
  if (S_ISBLK(status.stx_mode)) {
    return of_device(makedev(status.stx_rdev_major, status.stx_rdev_minor), path);
  }
  return of_file(status, path);
}

FileFingerprint fingerprint_of(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (fd) return fingerprint_of(fd.get(), path);
  if (errno != ENOENT) throw SystemError(fmt::format("look at {}", path), errno);
  return {"file " + real_path(path), {}, {}};
}

}  // namespace rdmablk::target
