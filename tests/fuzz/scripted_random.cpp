#include "tests/fuzz/scripted_random.h"

#include <algorithm>
#include <random>

#include "common/random.h"

namespace rdmablk {
namespace {

std::minstd_rand generator;

}  // namespace

void fuzz::restart_random() {
  generator.seed();
}

void fill_random(std::span<std::byte> buffer) {
  std::ranges::generate(buffer, [] { return static_cast<std::byte>(generator() >> 8U); });
}

}  // namespace rdmablk
