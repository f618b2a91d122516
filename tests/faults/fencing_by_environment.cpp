// What stands in place of target/fencing.cpp in rdmablk-target-unfenced: parts of the fencing are
// off, so that a test can show that it notices.

#include <cstdlib>
#include <string_view>

#include "target/fencing.h"

namespace rdmablk::target {
namespace {

/// RDMABLK_UNFENCED names what is off, with commas: queue_pairs, files, leases.
Fencing read_environment() {
  const char* value = std::getenv("RDMABLK_UNFENCED");
  const std::string_view off = value == nullptr ? "" : value;
  const auto is_on = [&](std::string_view name) {
    return off.find(name) == std::string_view::npos;
  };
  Fencing fencing;
  fencing.destroys_queue_pairs = is_on("queue_pairs");
  fencing.drains_files = is_on("files");
  fencing.checks_leases = is_on("leases");
  return fencing;
}

}  // namespace

const Fencing& fencing() noexcept {
  static const Fencing fencing = read_environment();
  return fencing;
}

}  // namespace rdmablk::target
