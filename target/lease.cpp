#include "target/lease.h"

#include <fmt/chrono.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "target/export_identity.h"

namespace rdmablk::target {
namespace {

/// "40 s", "3 min", "7 h", "12 days".
std::string age_text(std::chrono::seconds age) {
  using std::chrono::duration_cast;
  if (age < std::chrono::minutes(2)) return fmt::format("{} s", std::max<long>(age.count(), 0));
  if (age < std::chrono::hours(2)) {
    return fmt::format("{} min", duration_cast<std::chrono::minutes>(age).count());
  }
  const auto hours = duration_cast<std::chrono::hours>(age).count();
  return hours < 48 ? fmt::format("{} h", hours) : fmt::format("{} days", hours / 24);
}

}  // namespace

LeaseHold::~LeaseHold() {
  lease_.release();
}

void LeaseHold::leave() noexcept {
  lease_.leaving_ = true;
}

Lease::Lease(std::string name, ExportIdentity& identity)
    : name_(std::move(name)), identity_(identity) {}

std::uint64_t Lease::number() const noexcept {
  return identity_.last_lease();
}

std::shared_ptr<LeaseHold> Lease::grant(Holder holder, Clock::time_point now) {
  identity_.next_lease();
  since_ = now;
  log(spdlog::level::info, fmt::format("lease {} granted to {}", number(), holder.peer.text()));
  return hold(std::move(holder));
}

std::shared_ptr<LeaseHold> Lease::renew(Holder holder, Clock::time_point now) {
  if (since_ == Clock::time_point{}) since_ = now;  // it was granted before the target started
  log(spdlog::level::info, fmt::format("{} is back with lease {}", holder.peer.text(), number()));
  return hold(std::move(holder));
}

bool Lease::may_renew(const SessionPeer& peer) const noexcept {
  const bool is_known = since_ != Clock::time_point{};  // not what was before the target started
  return !is_known || holder_.peer.client == peer.client;
}

void Lease::report(const std::string& what) {
  log(spdlog::level::err, what);
}

void Lease::log(spdlog::level::level_enum level, const std::string& what) {
  const auto line = log_.note(fmt::format("export '{}': {}", name_, what));
  if (line) spdlog::log(level, "{}", *line);
}

std::shared_ptr<LeaseHold> Lease::hold(Holder holder) {
  auto made = std::make_shared<LeaseHold>(*this, number());
  identity_.note_writer();
  holder_ = std::move(holder);
  held_ = true;
  leaving_ = false;
  return made;
}

void Lease::release() noexcept {
  held_ = false;
  log(spdlog::level::info, fmt::format("lease {} released by {}", number(), holder_.peer.text()));
  for (LeaseWaiter& waiter : takers_) waiter.on_lease_free();
  for (LeaseWaiter& waiter : waiters_) waiter.on_lease_free();
}

void Lease::wait(LeaseWaiter& waiter, bool takes_over) {
  (takes_over ? takers_ : waiters_).push_back(waiter);
}

std::string Lease::text(Clock::time_point now) const {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - since_);
  return fmt::format("held for writing by {} since {:%Y-%m-%d %H:%M:%S} ({} ago)",
                     holder_.peer.text(), fmt::localtime(Clock::to_time_t(since_)), age_text(age));
}

}  // namespace rdmablk::target
