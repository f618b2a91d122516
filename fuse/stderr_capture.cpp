#include "fuse/stderr_capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rdmablk::fuse {

StderrCapture::StderrCapture() noexcept
    : file_(::memfd_create("stderr", MFD_CLOEXEC)),
      original_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
  if (file_ && original_) ::dup2(file_.get(), STDERR_FILENO);
}

StderrCapture::~StderrCapture() {
  if (file_ && original_) ::dup2(original_.get(), STDERR_FILENO);
}

std::string StderrCapture::text() const {
  if (!file_ || !original_) return {};
  std::string text(4096, '\0');
  const ssize_t size = ::pread(file_.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace rdmablk::fuse
