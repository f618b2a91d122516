#include "initiator/path_keeper.h"

#include <fmt/format.h>

#include <bit>

#include "common/thread_log.h"
#include "common/verbs/context.h"
#include "initiator/rdma_session.h"

namespace rdmablk::initiator {
namespace {

/// The longest pause between two questions whether a path works again.
constexpr std::chrono::milliseconds kLongestPause{10000};

/// How long a path has to answer.
constexpr std::chrono::milliseconds kPatience{3000};

/// How often busy paths are looked at: one on which nothing ends for so long is asked whether it
/// still works.
constexpr std::chrono::milliseconds kLookInterval{1000};

}  // namespace

PathKeeper::PathKeeper(RdmaSession& session) : session_(session), look_timer_(session.loop().io()) {
  for (std::size_t path = 0; path < session.paths().count(); ++path) {
    watches_.push_back(std::make_unique<Watch>(session.loop().io(), RdmaSession::random_seed()));
  }
}

PathKeeper::~PathKeeper() = default;

void PathKeeper::failed(std::size_t path, const std::string& why) {
  if (watches_.size() == 1) return;
  Watch& watch = *watches_[path];
  if (session_.paths().set_down(path, why)) {
    watch.backoff.lost(Clock::now(), kLongestPause);
    if (const auto line = watch.news.note(fmt::format("the path to {} over {} fails: {}",
                                                      session_.target().text(),
                                                      session_.paths().place(path).text(), why))) {
      thread_log().warn("{}", *line);
    }
  }
  if (!watch.probe) await_probe(path);
}

void PathKeeper::is_dead(std::size_t path, const std::string& why) {
  failed(path, why);
  session_.end_links(path, why);
}

void PathKeeper::works(std::size_t path) {
  if (!session_.paths().set_up(path)) return;
  Watch& watch = *watches_[path];
  watch.timer.cancel();
  watch.backoff.succeeded(Clock::now());
  has_news_ = true;
  if (const auto line = watch.news.note(fmt::format("the path to {} over {} works again",
                                                    session_.target().text(),
                                                    session_.paths().place(path).text()))) {
    thread_log().info("{}", *line);
  }
}

void PathKeeper::device_failed(const std::string& name, const std::string& why) {
  if (watches_.size() == 1) return;
  for (std::size_t path = 0; path < watches_.size(); ++path) {
    if (session_.paths().device(path) == name) is_dead(path, why);
  }
}

void PathKeeper::device_gone(const ibv_context* device, const std::string& why) {
  for (std::size_t path = 0; path < watches_.size(); ++path) {
    Watch& watch = *watches_[path];
    if (!watch.probe || watch.probe->device() != device) continue;
    watch.probe.reset();
    failed(path, why);
  }
  device_failed(verbs::device_name(device), why);
}

void PathKeeper::ask_again() {
  for (std::size_t path = 0; path < watches_.size(); ++path) {
    if (!session_.paths().is_up(path)) ask(path);
  }
}

void PathKeeper::ask(std::size_t path) {
  if (watches_.size() > 1 && !watches_[path]->probe) probe(path);
}

void PathKeeper::await_probe(std::size_t path) {
  Watch& watch = *watches_[path];
  watch.timer.expires_at(watch.backoff.next());
  watch.timer.async_wait(lifetime_.guard([this, path](const asio::error_code& error) {
    if (!error && !watches_[path]->probe) probe(path);
  }));
}

void PathKeeper::probe(std::size_t path) {
  watches_[path]->timer.cancel();
  watches_[path]->probe = std::make_unique<PathProbe>(
      session_.loop(), session_.paths().address(path), kPatience,
      [this, path](const PathProbe::Result& result) { on_probed(path, result); });
}

void PathKeeper::on_probed(std::size_t path, const PathProbe::Result& result) {
  Watch& watch = *watches_[path];
  watch.probe.reset();
  if (!result.failure) {
    session_.paths().set_device(path, result.device);
    return works(path);
  }
  session_.paths().skip_address(path);
  watch.backoff.failed(Clock::now(), kLongestPause);
  is_dead(path, *result.failure);
}

void PathKeeper::start() {
  if (watches_.size() == 1) return;
  // Those that nobody has tried yet: whoever watches is to know.
  for (std::size_t path = 0; path < watches_.size(); ++path) {
    if (session_.paths().device(path).empty()) ask(path);
  }
  await_look();
}

void PathKeeper::await_look() {
  look_timer_.expires_after(kLookInterval);
  look_timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error) look();
  }));
}

/// A connection may be lost without anybody telling, for minutes: of one that waits for answers
/// alone, TCP's patience, and so soft-iWARP's, knows no end.
void PathKeeper::look() {
  for (std::size_t path = 0; path < watches_.size(); ++path) {
    Watch& watch = *watches_[path];
    const bool is_silent = this->is_silent(path);
    watch.silent_looks = is_silent ? watch.silent_looks + 1 : 0;
    // One that is slow, and works, is asked less and less often.
    if (is_silent && std::has_single_bit(watch.silent_looks)) ask(path);
  }
  await_look();
}

/// Whether requests wait there and none has ended since the last look.
bool PathKeeper::is_silent(std::size_t path) {
  const auto uses = session_.paths().uses(path);
  Watch& watch = *watches_[path];
  watch.ended.resize(uses.size());
  bool is_silent = false;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::uint64_t ended = uses[i]->ended();
    const bool has_moved = std::exchange(watch.ended[i], ended) != ended;
    if (uses[i]->is_connected() && uses[i]->is_busy() && !has_moved) is_silent = true;
  }
  return is_silent;
}

}  // namespace rdmablk::initiator
