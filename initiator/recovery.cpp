#include "initiator/recovery.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "initiator/attached_image.h"
#include "initiator/rdma_session.h"
#include "initiator/reattachment.h"

namespace rdmablk::initiator {

using protocol::Status;

namespace {

/// How long the threads of queues have, once in an outage, to give up connections that were ended.
/// One that is busy elsewhere must not keep the others waiting; the target fences its connection
/// all the same.
constexpr std::chrono::milliseconds kEndPatience{500};

/// Failures in a row of one queue after which there is to be another session.
constexpr unsigned kMaxQueueRefusals = 2;

bool has_ended(const AttachedImage& image) {
  return std::ranges::none_of(image.places(), [](const auto& place) {
    return place->is_connected && !place->hand_over.has_given_up();
  });
}

}  // namespace

Recovery::Recovery(RdmaSession& session)
    : session_(session),
      wake_watch_(session.loop().io(), session.wake().fd(),
                  [this] {
                    session_.wake().take();
                    update_phase();
                  }),
      phase_timer_(session.loop().io()),
      backoff_(RdmaSession::random_seed()),
      resizing_(session) {}

Recovery::~Recovery() = default;

void Recovery::run() {
  while (true) {
    try {
      step();
    } catch (const std::exception& error) {
      // Whatever it was, descriptors running out included: it costs an attempt.
      if (!is_complete()) begin_outage(error.what());
      note_failure(error.what());
      backoff_.failed(Clock::now(), longest_pause());
    }
  }
}

void Recovery::step() {
  notice_losses();
  resizing_.advance();
  if (is_complete()) {
    if (outage_) end_outage();
    if (session_.keeper().take_news()) send_home();
    session_.loop().run_until(ControlLoop::kNever, [this] { return has_news(); });
  } else if (Clock::now() < backoff_.next()) {
    session_.loop().run_until(backoff_.next(), [this] { return has_news() || is_complete(); });
  } else {
    attempt();
    notice_losses();
    // Something has been lost meanwhile: no reason to turn in a circle.
    if (!is_complete()) backoff_.failed(Clock::now(), longest_pause());
  }
}

std::chrono::milliseconds Recovery::longest_pause() const {
  return session_.condition().options().reconnect_delay;
}

bool Recovery::has_news() const {
  return session_.is_lost() || resizing_.has_news() || session_.keeper().has_news() ||
         std::ranges::any_of(session_.images(), [](const auto* image) {
           return std::ranges::any_of(
               image->places(), [](const auto& place) { return place->hand_over.has_given_up(); });
         });
}

void Recovery::notice_losses() {
  if (session_.is_lost()) {
    resizing_.forget();
    const std::size_t path = session_.paths().admin();
    const bool is_path_to_blame = session_.is_path_to_blame();
    const std::string reason = session_.end();
    if (is_path_to_blame) session_.keeper().failed(path, reason);
    for (AttachedImage* const image : session_.images()) image->set_fenced();
    begin_outage(reason);
    // What no thread has taken yet is dead, too.
    for (AttachedImage* const image : session_.images()) {
      for (const auto& place : image->places()) {
        if (place->hand_over.call_back()) place->disconnect();
      }
    }
  }
  for (AttachedImage* const image : session_.images()) take_given_up(*image);
  session_.device_keeper().let_go();
  if (phase_ == SessionState::Phase::failing) fence_what_is_to_fail();
}

void Recovery::take_given_up(AttachedImage& image) {
  for (const auto& place : image.places()) {
    const auto dead = place->hand_over.take_given_up();
    if (!dead) continue;
    const std::size_t path = place->path;
    place->disconnect();
    if (image.is_lost() || !dead->is_down()) continue;
    // One that ended with the session says nothing of its own path.
    const bool is_path_to_blame = !dead->was_closed_by_peer() && !place->hand_over.is_fenced();
    if (is_path_to_blame) session_.keeper().failed(path, dead->failure());
    begin_outage(fmt::format("I/O queue {} of {}: {}", place->number,
                             image.attached().reply().info.name, dead->failure()));
    outage_->undone += place->hand_over.undone();
  }
}

/// Has queues go back to their own paths, in an orderly way.
void Recovery::send_home() {
  if (!session_.spreads_queues()) return;
  for (AttachedImage* const image : session_.images()) {
    if (image->is_lost()) continue;
    for (const auto& place : image->places()) {
      const bool is_away = place->path != session_.paths_for(place->number).front();
      if (is_away && place->is_connected && !place->is_leaving) image->ask_to_leave(*place);
    }
  }
}

/// Whether a queue was lost alone, with requests that the target may still do, while it serves the
/// others.
bool Recovery::has_begun_alone(const QueuePlace& place) const {
  return session_.is_open() && !session_.is_lost() && !place.is_connected &&
         !place.hand_over.is_fenced() && place.hand_over.undone() > 0;
}

/// Requests are to end with an error: what a queue that was lost alone had is fenced first, and
/// with it everything, by another session.
void Recovery::fence_what_is_to_fail() {
  for (const AttachedImage* const image : session_.images()) {
    if (std::ranges::any_of(image->places(),
                            [this](const auto& p) { return has_begun_alone(*p); })) {
      return session_.lose("an I/O queue is gone, and its requests are to fail");
    }
  }
}

/// Whether there is nothing to be done.
bool Recovery::is_complete() const {
  return std::ranges::all_of(session_.images(), [this](const auto* image) {
    if (image->is_lost()) return true;
    return session_.is_open() && image->attached().is_attached() &&
           std::ranges::all_of(image->places(), [](const auto& p) { return p->is_connected; });
  });
}

/// Does all that is missing, in the order of setting up. Throws Error at the first that fails.
void Recovery::attempt() {
  if (!session_.is_open()) session_.open();
  const auto images = session_.images();
  for (AttachedImage* const image : images) {
    if (!image->is_lost()) restore(*image);
  }
}

void Recovery::restore(AttachedImage& image) {
  if (!image.attached().is_attached()) {
    wait_for_ends(image);
    attach(image);
  }
  for (const auto& place : image.places()) {
    if (image.is_lost()) return;
    if (!place->is_connected) connect(image, *place);
  }
}

void Recovery::wait_for_ends(AttachedImage& image) {
  if (!outage_ || std::exchange(outage_->waited_for_ends, true)) return;
  session_.loop().run_until(Clock::now() + kEndPatience,
                            [&] { return has_ended(image) || session_.is_lost(); });
  take_given_up(image);
}

/// It is lost, unless another target may have said so: an address beside the image's own may lead
/// to one, and then only the own address is believed.
void Recovery::conclude_loss(AttachedImage& image, const std::string& why) {
  const std::size_t path = session_.paths().admin();
  if (path == 0) return lose(image, why);
  const std::string doubt =
      fmt::format("over {} it is said: {}; as that may be another target, {} is waited for",
                  session_.paths().place(path).text(), why, session_.paths().place(0).text());
  session_.keeper().failed(path, doubt);
  session_.lose(doubt);
  throw Error(doubt);
}

/// Attaches it again, or finds that what was there before is not there any more.
void Recovery::attach(AttachedImage& image) {
  Attachment& attachment = image.attached();
  try {
    attachment.attach_again(false);
  } catch (const RefusedError& error) {
    if (error.status() == Status::fenced) return conclude_loss(image, error.what());
    if (error.status() != Status::stale) throw;
    if (attachment.reply().info.kind == protocol::ExportKind::memory) {
      return conclude_loss(image, "the target has lost what the export held");
    }
    if (image.has_unflushed()) {
      return conclude_loss(
          image,
          "the target cannot vouch for what was not flushed (its host went down, or it lost "
          "its state), and writes that were acknowledged but never flushed may be lost");
    }
    if (!attach_changed(image)) return;
  }
  if (const auto why = difference(attachment.reply(), attachment.current())) {
    return conclude_loss(image, *why);
  }
  image.adopt_size();
  if (attachment.current().queues < image.places().size()) {
    const std::string why =
        fmt::format("the target grants {} I/O queues of {} now, not {}",
                    attachment.current().queues, attachment.uri(), image.places().size());
    session_.lose(why);
    throw Error(why);
  }
}

/// Attaches an export whose content is not vouched for, of which nothing acknowledged is missing.
/// @return whether it did; the image is lost otherwise.
bool Recovery::attach_changed(AttachedImage& image) {
  try {
    image.attached().attach_again(true);
    return true;
  } catch (const RefusedError& error) {
    if (error.status() != Status::fenced) throw;
    conclude_loss(
        image,
        "it is not what it was: the target has other content under its name, or lost what it knew "
        "of it, and the right to write that is another's");
    return false;
  }
}

void Recovery::connect(AttachedImage& image, QueuePlace& place) {
  std::unique_ptr<ConnectedQueue> queue;
  try {
    queue = image.connect(place);
  } catch (const ConnectError& error) {
    const auto refusal = error.refusal();
    const bool is_forgotten = refusal == Status::no_attachment || refusal == Status::stale;
    // Who waits for what the queue had under way cannot be let go before it is fenced.
    if ((is_forgotten || has_begun_alone(place)) && ++place.refusals >= kMaxQueueRefusals) {
      place.refusals = 0;
      session_.lose(error.what());
    }
    throw;
  }
  place.refusals = 0;
  if (image.is_lost()) return;  // meanwhile
  place.is_connected = true;
  place.hand_over.deliver(std::move(queue));
}

}  // namespace rdmablk::initiator
