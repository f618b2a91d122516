#pragma once

#include <cstdlib>
#include <string_view>

#include "common/cm/settings.h"

namespace rdmablk::testing {

/// How tests connect: as RDMABLK_TEST_CM says, else by rdma_cm.
inline cm::Method test_method() {
  const char* const method = std::getenv("RDMABLK_TEST_CM");
  return method != nullptr && std::string_view(method) == "tcp" ? cm::Method::tcp
                                                                : cm::Method::rdmacm;
}

}  // namespace rdmablk::testing
