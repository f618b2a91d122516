#include "target/listening.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/error.h"

namespace rdmablk::target {

Listening::Listening(const cm::Managers& managers, ListenAddresses addresses,
                     cm::RequestHandler& handler)
    : managers_(managers), wanted_(std::move(addresses)), handler_(handler) {}

void Listening::begin() {
  for (const auto& [method, addresses] : wanted_) {
    for (auto& listener : listen_on(managers_, {{method, addresses}}, handler_)) {
      const SocketAddress address = listener->address();
      places_.push_back({method, address, std::move(listener)});
    }
  }
}

void Listening::drop(const ibv_context* device) {
  for (Place& place : places_) {
    if (!place.listener || place.listener->device() != device) continue;
    spdlog::warn("not listening on {} any more, as its device is gone", place.address.text());
    place.listener.reset();
  }
}

void Listening::resume() {
  for (Place& place : places_) {
    if (place.listener) continue;
    try {
      place.listener = managers_.at(place.method)->listen(place.address, handler_);
      spdlog::info("listening on {} again", place.address.text());
    } catch (const Error& error) {
      spdlog::debug("{}", error.what());  // it may come back later
    }
  }
}

bool Listening::lacks_some() const noexcept {
  return std::any_of(places_.begin(), places_.end(),
                     [](const Place& place) { return place.listener == nullptr; });
}

std::vector<SocketAddress> Listening::addresses() const {
  std::vector<SocketAddress> addresses;
  for (const Place& place : places_) {
    if (place.listener) addresses.push_back(place.listener->address());
  }
  return addresses;
}

bool Listening::is_reached_over(const ibv_context* device) const noexcept {
  return std::any_of(places_.begin(), places_.end(), [device](const Place& place) {
    if (!place.listener) return false;
    const ibv_context* const bound = place.listener->device();
    return bound == nullptr || bound == device;
  });
}

}  // namespace rdmablk::target
