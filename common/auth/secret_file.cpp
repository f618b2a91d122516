#include "common/auth/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk::auth {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(fmt::format("cannot use the key file {}: {}", path, why));
}

UniqueFd open_secret(const std::string& path) {
  // Not blocking: it may be a pipe that nobody writes to.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == ELOOP) refuse(path, "it is a symbolic link; name the file itself");
  if (!fd) refuse(path, errno_text(errno));
  return fd;
}

/// Looks at what was opened, which nobody can exchange any more.
void check(const std::string& path, const struct stat& file) {
  if (!S_ISREG(file.st_mode)) refuse(path, "it is no regular file");
  if (file.st_uid != 0 && file.st_uid != ::geteuid()) {
    refuse(path, fmt::format("it belongs to user {}, who could change it; chown it to root or to "
                             "the user of this program, {}",
                             file.st_uid, ::geteuid()));
  }
  if ((file.st_mode & kOthers) != 0) {
    refuse(path,
           fmt::format("its mode is {:04o}, so others may read or write it; chmod 600 it, and "
                       "make new keys if others could read them",
                       file.st_mode & ALLPERMS));
  }
  if (static_cast<std::size_t>(file.st_size) > kMaxSecretFile) {
    refuse(path, fmt::format("it has {} bytes, and {} are the most", file.st_size, kMaxSecretFile));
  }
}

/// @return how many bytes; fewer than there is room for only at the end of the file.
std::size_t read_all(const std::string& path, int fd, std::span<char> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got = ::read(fd, buffer.data() + done, buffer.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, errno_text(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void write_all(const std::string& path, int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw SystemError(fmt::format("write the key file {}", path), errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync(const std::string& path, int fd) {
  if (::fsync(fd) != 0) throw SystemError(fmt::format("write the key file {}", path), errno);
}

/// The entry of a new file lasts only when its directory is on stable storage, too.
void sync_directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) throw SystemError(fmt::format("open the directory {}", directory), errno);
  sync(path, fd.get());
}

}  // namespace

SecretText read_secret_file(const std::string& path) {
  const UniqueFd fd = open_secret(path);
  struct stat file {};
  if (::fstat(fd.get(), &file) != 0) refuse(path, errno_text(errno));
  check(path, file);
  SecretText text(static_cast<std::size_t>(file.st_size));
  text.shrink(read_all(path, fd.get(), text.buffer()));
  return text;
}

void create_secret_file(const std::string& path, std::string_view text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                           S_IRUSR | S_IWUSR));
  if (!fd && errno == EEXIST) {
    throw Error(
        fmt::format("cannot make the key file {}: it is there already, and a key is never "
                    "overwritten",
                    path));
  }
  if (!fd) throw SystemError(fmt::format("make the key file {}", path), errno);
  try {
    write_all(path, fd.get(), text);
    sync(path, fd.get());
    sync_directory_of(path);
  } catch (const Error&) {
    ::unlink(path.c_str());
    throw;
  }
}

}  // namespace rdmablk::auth
