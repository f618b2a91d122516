#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/counted.h"
#include "common/seconds.h"
#include "common/thread_log.h"
#include "initiator/attached_image.h"
#include "initiator/rdma_session.h"
#include "initiator/recovery.h"

// What an outage means for those who wait, as time passes.

namespace rdmablk::initiator {

using Phase = SessionState::Phase;

namespace {

Service service_of(Phase phase) {
  switch (phase) {
    case Phase::failing:
      return Service::failing;
    case Phase::lost:
      return Service::lost;
    default:
      return Service::waiting;
  }
}

}  // namespace

/// Whether any image is still of use.
bool Recovery::has_live_images() const {
  return !std::ranges::all_of(session_.images(),
                              [](const auto* image) { return image->is_lost(); });
}

void Recovery::begin_outage(const std::string& reason) {
  if (outage_ || !has_live_images()) return;
  const auto now = Clock::now();
  outage_ = Outage{.since = now, .reason = reason};
  backoff_.lost(now, longest_pause());
  tell(spdlog::level::warn, fmt::format("lost the connection to {}: {}; reconnecting",
                                        session_.target().text(), reason));
  update_phase();
}

/// Of an attempt to come back; the same one again is not worth a line each time.
void Recovery::note_failure(const std::string& why) {
  thread_log().debug("{}: {}", session_.target().text(), why);
  if (!outage_ || outage_->last_failure == why) return;
  outage_->last_failure = why;
  session_.condition().set_last_error(why);
  tell(spdlog::level::warn, fmt::format("not back at {} yet: {}", session_.target().text(), why));
}

void Recovery::tell(spdlog::level::level_enum level, const std::string& text) {
  if (const auto line = news_.note(text)) thread_log().log(level, "{}", *line);
}

void Recovery::end_outage() {
  const Outage outage = *std::exchange(outage_, std::nullopt);
  phase_timer_.cancel();
  if (!has_live_images()) return;
  const auto now = Clock::now();
  backoff_.succeeded(now);
  tell(spdlog::level::info,
       fmt::format("back at {} after {:.1f} s, and does {} again", session_.target().text(),
                   in_seconds(now - outage.since), counted(outage.undone, "request")));
  phase_ = Phase::connected;
  show(outage.reason);
  set_service_of_all(phase_);
}

void Recovery::lose(AttachedImage& image, const std::string& why) {
  thread_log().error(
      "lost {} for good: {}; every request ends with an I/O error until it is attached anew",
      image.attached().uri(), why);
  is_any_lost_ = true;
  session_.condition().enter(Phase::lost, why);
  image.lose();
  for (const auto& place : image.places()) {
    if (place->hand_over.call_back()) place->disconnect();
  }
}

/// Does what the options say of the time that has passed, and comes back when they say more.
void Recovery::update_phase() {
  if (!outage_ || !has_live_images()) return;
  const RecoveryOptions options = session_.condition().options();
  const auto now = Clock::now();
  backoff_.limit(now, options.reconnect_delay);
  const auto passed = now - outage_->since;
  if (options.give_up && passed >= *options.give_up) return give_up();
  const bool fails = options.fail_fast && passed >= *options.fail_fast;
  const Phase phase = fails ? Phase::failing : Phase::reconnecting;
  if (phase != std::exchange(phase_, phase)) {
    if (fails) {
      tell(spdlog::level::warn, fmt::format("requests to {} end with an I/O error until it is back",
                                            session_.target().text()));
    }
    show(outage_->reason);
    set_service_of_all(phase);
    if (fails) fence_what_is_to_fail();
  }
  std::optional<Clock::duration> next = options.give_up;
  if (options.fail_fast && !fails && (!next || *options.fail_fast < *next)) {
    next = options.fail_fast;
  }
  if (!next) return phase_timer_.cancel(), void();
  phase_timer_.expires_at(outage_->since + *next);
  phase_timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error) update_phase();
  }));
}

/// Tells the phase, unless there is worse to tell.
void Recovery::show(const std::string& reason) {
  if (!is_any_lost_) session_.condition().enter(phase_, reason);
}

void Recovery::set_service_of_all(Phase phase) {
  for (AttachedImage* const image : session_.images()) image->set_service(service_of(phase));
}

void Recovery::give_up() {
  thread_log().error(
      "gave up reconnecting to {} after {:.0f} s ({}); every request ends with an I/O error from "
      "now on",
      session_.target().text(), in_seconds(Clock::now() - outage_->since),
      outage_->last_failure.empty() ? outage_->reason : outage_->last_failure);
  is_any_lost_ = true;
  session_.condition().enter(Phase::lost, outage_->reason);
  for (AttachedImage* const image : session_.images()) image->lose();
  if (session_.is_open()) session_.lose("reconnecting was given up");
}

}  // namespace rdmablk::initiator
