#pragma once

#include <infiniband/verbs.h>

#include <utility>
#include <vector>

#include "target/device_selection.h"

namespace rdmablk::target {

/// Where a target listens; an address that goes with its device is listened on again when that
/// comes back. Used by the control thread.
class Listening {
 public:
  /// @param managers one for each method of the addresses. They, and the handler, outlive this.
  Listening(const cm::Managers& managers, ListenAddresses addresses, cm::RequestHandler& handler);

  /// What was asked for.
  const ListenAddresses& wanted() const noexcept { return wanted_; }

  /// Begins. Throws Error.
  void begin();

  /// Ends.
  void end() noexcept { places_.clear(); }

  /// A device is gone, and its addresses with it.
  void drop(const ibv_context* device);

  /// Listens again on the addresses that went with devices, as far as they are back.
  void resume();

  /// Whether there are some that are not back.
  bool lacks_some() const noexcept;

  /// Where it listens: with the ports that were chosen.
  std::vector<SocketAddress> addresses() const;

  /// Whether requests may come over a device.
  bool is_reached_over(const ibv_context* device) const noexcept;

 private:
  struct Place {
    cm::Method method;
    SocketAddress address;
    std::unique_ptr<cm::Listener> listener;  ///< null: its device is away
  };

  const cm::Managers& managers_;
  ListenAddresses wanted_;
  cm::RequestHandler& handler_;
  std::vector<Place> places_;
};

}  // namespace rdmablk::target
