#include "tests/integration/initiator/kept_image.h"

#include <algorithm>
#include <array>

namespace rdmablk::testing {

using initiator::Operation;
using initiator::Request;

int RandomRequests::run(int count) {
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    while (!idle_.empty()) start();
    failures += finish() ? 0 : 1;
  }
  while (driver_.under_way() > 0) failures += finish() ? 0 : 1;
  return failures;
}

void RandomRequests::start() {
  constexpr std::array kOperations{Operation::read,  Operation::read, Operation::write,
                                   Operation::write, Operation::zero, Operation::discard};
  const std::uint64_t slice = idle_.back();
  idle_.pop_back();
  std::uint64_t within = random_() % slice_;
  std::uint64_t length = 1 + random_() % (slice_ - within);
  if (random_() % 3 == 0) {  // aligned
    within &= ~std::uint64_t{4095};
    length = std::min<std::uint64_t>((length + 4095) & ~std::uint64_t{4095}, slice_ - within);
  }
  const std::uint64_t offset = slice * slice_ + within;
  const Operation operation = kOperations[random_() % kOperations.size()];
  Request& request = driver_.submit(operation, offset, length);
  request.durable = operation != Operation::read && random_() % 8 == 0;
  const auto buffer = driver_.buffer(request).first(length);
  std::ranges::generate(buffer, [&] { return static_cast<std::byte>(random_()); });
  const auto place = std::span(model_).subspan(offset, length);
  if (operation == Operation::write) std::ranges::copy(buffer, place.begin());
  if (operation == Operation::zero || operation == Operation::discard) {
    std::ranges::fill(place, std::byte{});
  }
}

bool RandomRequests::finish() {
  Request& request = driver_.wait();
  idle_.push_back(request.offset / slice_);
  if (request.error != 0) return false;
  return request.operation != Operation::read ||
         std::ranges::equal(driver_.buffer(request).first(request.length),
                            std::span(model_).subspan(request.offset, request.length));
}

}  // namespace rdmablk::testing
