#include "common/file_replacement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "common/error.h"

namespace rdmablk {

FileReplacement::FileReplacement(int directory, std::string name, std::string temporary,
                                 mode_t mode)
    : directory_(directory), name_(std::move(name)), temporary_(std::move(temporary)) {
  ::unlinkat(directory_, temporary_.c_str(), 0);
  fd_.reset(::openat(directory_, temporary_.c_str(),
                     O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd_) throw SystemError(fmt::format("make {}", temporary_), errno);
}

FileReplacement::~FileReplacement() {
  if (fd_) ::unlinkat(directory_, temporary_.c_str(), 0);
}

void FileReplacement::write(std::string_view content) const {
  while (!content.empty()) {
    const ssize_t written = ::write(fd_.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw SystemError(fmt::format("write {}", temporary_), written < 0 ? errno : ENOSPC);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileReplacement::sync() const {
  if (::fsync(fd_.get()) != 0) throw SystemError(fmt::format("flush {}", temporary_), errno);
}

UniqueFd FileReplacement::take_place() {
  if (::renameat(directory_, temporary_.c_str(), directory_, name_.c_str()) != 0) {
    throw SystemError(fmt::format("rename {}", temporary_), errno);
  }
  return std::move(fd_);
}

}  // namespace rdmablk
