#include "target/fencing.h"

namespace rdmablk::target {

const Fencing& fencing() noexcept {
  static constexpr Fencing kAll;
  return kAll;
}

}  // namespace rdmablk::target
