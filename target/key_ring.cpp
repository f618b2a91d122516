#include "target/key_ring.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/error.h"

namespace rdmablk::target {

KeyRing::KeyRing(std::optional<std::string> path) : path_(std::move(path)) {
  if (path_) keys_ = ClientKeys::read(*path_);
}

bool KeyRing::reload() {
  if (!keys_) {
    spdlog::info("SIGHUP: without --auth there is nothing to read again");
    return false;
  }
  try {
    keys_ = ClientKeys::read(*path_);
  } catch (const Error& error) {
    spdlog::error("SIGHUP: {}; the keys stay as they were", error.what());
    return false;
  }
  spdlog::info("SIGHUP: read the keys of {} clients", keys_->size());
  return true;
}

void KeyRing::check_rules(std::span<const std::unique_ptr<Export>> exports) const {
  if (!keys_) return;
  for (const auto& exported : exports) {
    for (const std::string& client : exported->spec().rules.clients()) {
      if (keys_->has(client)) continue;
      spdlog::warn("export '{}' is for client '{}', who has no key", exported->spec().name, client);
    }
  }
}

}  // namespace rdmablk::target
