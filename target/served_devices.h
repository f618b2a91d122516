#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/cm/device_watch.h"
#include "common/lifetime.h"
#include "common/verbs/device_events.h"
#include "target/exports.h"
#include "target/listening.h"
#include "target/registrar.h"
#include "target/sessions.h"

namespace rdmablk::target {

/// The devices that a target serves, as they come and go. What came over one that is gone ends,
/// what was made with it is destroyed, and then it is let go of; sessions over others go on. One
/// that comes back, or is new, is served as if it had been there from the start. Used by the
/// control thread.
class ServedDevices final : private cm::DeviceHandler {
 public:
  /// @param wanted the name of the only one to serve; empty: all that requests may come over.
  ServedDevices(asio::io_context& io, const cm::Managers& managers, std::string wanted,
                Exports& exports, Registrar& registrar, Listening& listening);

  /// A device that the target is to serve, for the exports.
  std::shared_ptr<TargetDevice> share(ibv_context* device);

  /// Begins to watch the devices that the exports have. @param sessions that come over them.
  /// @param changed called when they are others. All outlive this or end().
  void begin(Sessions& sessions, std::function<void()> changed);

  /// Watches no more.
  void end() noexcept;

  /// Looks which there are, as something has come over one that is not known.
  void look();

  /// The names of those that were served, are gone, and are not back.
  const std::set<std::string>& away() const noexcept { return away_; }

 private:
  void on_device_come(ibv_context* device) override;
  void on_device_gone(ibv_context* device) override;
  void add(ibv_context* device);
  void watch_events(ibv_context* device);
  void let_go(ibv_context* device) noexcept;
  void resume();

  asio::io_context& io_;
  const cm::Managers& managers_;
  std::string wanted_;
  Exports& exports_;
  Registrar& registrar_;
  Listening& listening_;
  Sessions* sessions_ = nullptr;
  std::function<void()> changed_;
  std::set<std::string> away_;
  std::map<ibv_context*, std::string> leaving_;  ///< gone, and not let go of yet
  std::map<ibv_context*, std::unique_ptr<verbs::DeviceEvents>> events_;
  std::optional<cm::DeviceWatch> watch_;
  asio::steady_timer retry_;  ///< of addresses that are not back
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
