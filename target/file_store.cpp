#include "target/file_store.h"

#include <spdlog/spdlog.h>

#include <bit>

#include "common/error.h"

namespace rdmablk::target {

void FileStore::report(const char* doing, std::uint64_t offset, int error) noexcept {
  const std::uint64_t count = ++failures_;
  if (!std::has_single_bit(count)) return;
  spdlog::error("{}: cannot {} at {}: {}{}", file_.path(), doing, offset, errno_text(error),
                count > 1 ? fmt::format(" (failure {} of this file)", count) : "");
}

}  // namespace rdmablk::target
