#include "common/error.h"

#include <fmt/format.h>

#include <system_error>

namespace rdmablk {

SystemError::SystemError(std::string_view doing, int error)
    : Error(fmt::format("cannot {}: {}", doing, errno_text(error))), error_(error) {}

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace rdmablk
