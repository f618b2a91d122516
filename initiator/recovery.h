#pragma once

#include <spdlog/common.h>

#include <asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/log_limiter.h"
#include "initiator/backoff.h"
#include "initiator/control_loop.h"
#include "initiator/resizing.h"
#include "initiator/session_state.h"

namespace rdmablk::initiator {

class AttachedImage;
class RdmaSession;
struct QueuePlace;

/// Has a session outlive its connections: the procedure of its control thread. It sleeps until the
/// target or a queue's connection is lost, and then goes through the steps of setting up again, as
/// often as it takes, with pauses between.
class Recovery {
 public:
  /// @param session outlives it.
  explicit Recovery(RdmaSession& session);
  ~Recovery();
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  /// Never returns; throws ControlLoop::Stopped.
  void run();

  /// An image is destroyed; nothing runs.
  void forget(const AttachedImage& image) noexcept { resizing_.forget(image); }

 private:
  using Clock = ControlLoop::Clock;

  /// From the first loss until all is there again.
  struct Outage {
    Clock::time_point since;
    std::string reason;
    std::string last_failure{};    ///< of an attempt to come back
    std::uint64_t undone = 0;      ///< requests that were under way
    bool waited_for_ends = false;  ///< of the old session's connections
  };

  void step();
  std::chrono::milliseconds longest_pause() const;
  bool has_live_images() const;
  bool has_news() const;
  void notice_losses();
  void take_given_up(AttachedImage& image);
  void send_home();
  bool attach_changed(AttachedImage& image);
  bool has_begun_alone(const QueuePlace& place) const;
  void fence_what_is_to_fail();
  void begin_outage(const std::string& reason);
  void note_failure(const std::string& why);
  void tell(spdlog::level::level_enum level, const std::string& text);
  bool is_complete() const;
  void end_outage();

  void attempt();
  void restore(AttachedImage& image);
  void wait_for_ends(AttachedImage& image);
  void attach(AttachedImage& image);
  void connect(AttachedImage& image, QueuePlace& place);

  void lose(AttachedImage& image, const std::string& why);
  void conclude_loss(AttachedImage& image, const std::string& why);
  void update_phase();
  void set_service_of_all(SessionState::Phase phase);
  void show(const std::string& reason);
  void give_up();

  RdmaSession& session_;
  DescriptorWatch wake_watch_;
  asio::steady_timer phase_timer_;
  Backoff backoff_;
  Resizing resizing_;
  LogLimiter news_;  ///< a target that comes and goes is not worth a line each time
  std::optional<Outage> outage_;
  SessionState::Phase phase_ = SessionState::Phase::connected;  ///< of images that are not lost
  bool is_any_lost_ = false;                                    ///< of the images
  Lifetime lifetime_;
};

}  // namespace rdmablk::initiator
