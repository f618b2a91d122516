#include "common/file_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/unique_fd.h"

namespace rdmablk {

std::optional<std::string> read_file_text(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = ::read(fd.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace rdmablk
