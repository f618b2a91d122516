#pragma once

#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/lifetime.h"
#include "common/log_limiter.h"
#include "initiator/backoff.h"
#include "initiator/path_probe.h"

namespace rdmablk::initiator {

class RdmaSession;

/// Watches the paths of a session that has several: takes one that fails out of use, asks now and
/// then whether it works again, and finds out when one has fallen silent with requests on it. Runs
/// on the thread that drives the control loop, and never blocks it.
class PathKeeper {
 public:
  /// @param session outlives it.
  explicit PathKeeper(RdmaSession& session);
  ~PathKeeper();
  PathKeeper(const PathKeeper&) = delete;
  PathKeeper& operator=(const PathKeeper&) = delete;

  /// A connection over a path could not be made, or was lost. It is out of use, while there is
  /// another, until it is known to work; when it does not even answer, all connections over it end.
  void failed(std::size_t path, const std::string& why);

  /// It is known that it does not work: its connections end now.
  void is_dead(std::size_t path, const std::string& why);

  /// It works: a connection was made over it.
  void works(std::size_t path);

  /// A device of this host does not work now: neither do the paths over it.
  void device_failed(const std::string& name, const std::string& why);

  /// It is gone, and nothing of it is to be left.
  void device_gone(const ibv_context* device, const std::string& why);

  /// Something may have brought them back: asks those that are down now.
  void ask_again();

  /// Whether a path has come back since the last call of take_news().
  bool has_news() const noexcept { return has_news_; }
  bool take_news() noexcept { return std::exchange(has_news_, false); }

  /// Begins to look for paths that have fallen silent.
  void start();

 private:
  using Clock = ControlLoop::Clock;

  struct Watch {
    Watch(asio::io_context& io, std::uint32_t seed) : timer(io), backoff(seed) {}

    asio::steady_timer timer;  ///< for the next probe
    Backoff backoff;
    std::unique_ptr<PathProbe> probe;
    std::vector<std::uint64_t> ended;  ///< requests of each queue, at the last look
    unsigned silent_looks = 0;         ///< in a row
    LogLimiter news;
  };

  void ask(std::size_t path);
  void await_probe(std::size_t path);
  void probe(std::size_t path);
  void on_probed(std::size_t path, const PathProbe::Result& result);
  void await_look();
  void look();
  bool is_silent(std::size_t path);

  RdmaSession& session_;
  std::vector<std::unique_ptr<Watch>> watches_;  ///< of each path
  asio::steady_timer look_timer_;
  bool has_news_ = false;
  Lifetime lifetime_;
};

}  // namespace rdmablk::initiator
