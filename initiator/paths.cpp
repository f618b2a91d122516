#include "initiator/paths.h"

#include <algorithm>
#include <numeric>

namespace rdmablk::initiator {

Paths::Paths(const std::vector<HostPort>& places) {
  const auto now = std::chrono::steady_clock::now();
  for (const HostPort& place : places) {
    Path& path = paths_.emplace_back();
    path.status.place = place;
    path.status.since = now;
    path.addresses = resolve(place);
  }
}

void Paths::skip_address(std::size_t path) noexcept {
  Path& skipped = paths_[path];
  skipped.current = (skipped.current + 1) % skipped.addresses.size();
}

std::vector<std::size_t> Paths::for_admin() const {
  std::vector<std::size_t> order(paths_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_partition(order.begin(), order.end(),
                        [this](std::size_t path) { return is_up(path); });
  return order;
}

std::vector<std::size_t> Paths::for_queue(unsigned number) const {
  std::vector<std::size_t> order = for_admin();
  std::erase_if(order, [this](std::size_t path) { return !is_up(path); });
  if (order.empty()) return order;
  // Those whose own path is down spread over the others.
  const std::size_t own = number % paths_.size();
  const auto found = std::ranges::find(order, own);
  const auto first = found != order.end()
                         ? found - order.begin()
                         : static_cast<std::ptrdiff_t>((number / paths_.size()) % order.size());
  std::rotate(order.begin(), order.begin() + first, order.end());
  return order;
}

void Paths::set_admin(std::size_t path) noexcept {
  const std::lock_guard lock(mutex_);
  admin_ = path;
}

void Paths::set_device(std::size_t path, const std::string& device) {
  const std::lock_guard lock(mutex_);
  paths_[path].status.device = device;
}

bool Paths::set_down(std::size_t path, const std::string& why) {
  const std::lock_guard lock(mutex_);
  PathStatus& status = paths_[path].status;
  status.last_error = why;
  if (!status.is_up) return false;
  status.is_up = false;
  status.since = std::chrono::steady_clock::now();
  ++status.failures;
  return true;
}

bool Paths::set_up(std::size_t path) {
  const std::lock_guard lock(mutex_);
  PathStatus& status = paths_[path].status;
  if (status.is_up) return false;
  status.is_up = true;
  status.since = std::chrono::steady_clock::now();
  status.last_error.clear();
  return true;
}

/// The counters of a queue that is gone serve the next one.
std::shared_ptr<PathUse> Paths::count_for(std::size_t path) {
  const std::lock_guard lock(mutex_);
  auto& uses = paths_[path].uses;
  const auto free =
      std::ranges::find_if(uses, [](const auto& use) { return use.use_count() == 1; });
  if (free == uses.end()) return uses.emplace_back(std::make_shared<PathUse>());
  (*free)->give_up();
  (*free)->set_connected(false);
  return *free;
}

std::vector<std::shared_ptr<const PathUse>> Paths::uses(std::size_t path) const {
  const std::lock_guard lock(mutex_);
  const auto& all = paths_[path].uses;
  return {all.begin(), all.end()};
}

std::vector<PathStatus> Paths::status() const {
  const std::lock_guard lock(mutex_);
  std::vector<PathStatus> result;
  for (const Path& path : paths_) {
    PathStatus& status = result.emplace_back(path.status);
    status.is_admin = &path == &paths_[admin_];
    for (const auto& use : path.uses) {
      status.counts += use->counts();
      if (use->is_connected()) ++status.queues;
    }
  }
  return result;
}

}  // namespace rdmablk::initiator
