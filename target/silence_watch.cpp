#include "target/silence_watch.h"

#include <utility>

namespace rdmablk::target {

SilenceWatch::SilenceWatch(asio::io_context& io, const Limits& limits, std::function<bool()> listen,
                           std::function<void()> silent)
    : limits_(limits), listen_(std::move(listen)), silent_(std::move(silent)), timer_(io) {}

void SilenceWatch::start() {
  if (limits_.silence().count() > 0) wait(limits_.silence());
}

void SilenceWatch::wait(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error) look();
  }));
}

/// Nothing may have been heard for a long time.
void SilenceWatch::look() {
  const auto now = Clock::now();
  const bool was_late = now > timer_.expiry() + limits_.keepalive;
  if (!listen_()) return;
  const auto end = heard_ + limits_.silence();
  if (end > now) return wait(std::chrono::ceil<std::chrono::milliseconds>(end - now));
  // The target may have been stopped itself, and the peer's messages with it.
  if (was_late) return wait(limits_.keepalive);
  silent_();
}

}  // namespace rdmablk::target
