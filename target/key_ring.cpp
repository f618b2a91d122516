#include "target/key_ring.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "common/counted.h"
#include "common/error.h"

namespace rdmablk::target {

KeyRing::KeyRing(std::optional<std::string> path) : path_(std::move(path)) {
  if (!path_) return;
  keys_ = ClientKeys::read(*path_);
  if (keys_->size() > 0) return;
  throw Error(
      fmt::format("cannot use the key file {}: it has no client in it; `rdmablk keygen CLIENT` "
                  "prints a line for one",
                  *path_));
}

bool KeyRing::reload() {
  if (!keys_) {
    spdlog::info("reload: without --auth there are no keys, and nothing to read again of them");
    return false;
  }
  try {
    keys_ = ClientKeys::read(*path_);
  } catch (const Error& error) {
    spdlog::error("reload: {}; the keys stay as they were", error.what());
    return false;
  }
  // Nobody at all is what an administrator may want of a target that runs.
  const std::size_t clients = keys_->size();
  if (clients == 0) {
    spdlog::warn(
        "reload: read the key file {}: no client is left in it, all sessions end, and nobody gets "
        "in",
        *path_);
  } else {
    spdlog::info("reload: read the keys of {}", counted(clients, "client"));
  }
  return true;
}

void KeyRing::check_rules(std::span<const std::unique_ptr<Export>> exports) const {
  for (const auto& exported : exports) check_rules(exported->spec());
}

void KeyRing::check_rules(const ExportSpec& spec) const {
  if (!keys_) return;
  for (const std::string& client : spec.rules.clients()) {
    if (keys_->has(client)) continue;
    spdlog::warn("export '{}' is for client '{}', who has no key", spec.name, client);
  }
}

}  // namespace rdmablk::target
