#include "common/cm/nudge.h"

#include <array>
#include <chrono>
#include <utility>

namespace rdmablk::cm {
namespace {

/// How long the peer's kernel may take from its answer to watching its socket: it is that of a
/// processor that it does not get.
constexpr std::array<std::chrono::milliseconds, Nudge::kMost> kPauses{
    std::chrono::milliseconds(20), std::chrono::milliseconds(200), std::chrono::milliseconds(2000)};

}  // namespace

void Nudge::start(std::function<void()> post) {
  post_ = std::move(post);
  await();
}

void Nudge::await() {
  if (posted_ == kMost) return;
  timer_.expires_after(kPauses[posted_]);
  timer_.async_wait(lifetime_.guard([this](const std::error_code& error) {
    if (error) return;
    ++posted_;
    post_();
    await();
  }));
}

}  // namespace rdmablk::cm
