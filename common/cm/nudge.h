#pragma once

#include <asio/steady_timer.hpp>
#include <cstdint>
#include <functional>

#include "common/lifetime.h"

namespace rdmablk::cm {

/// Empty WRITEs that the end which asked for an iWARP connection sends a moment after it is made.
///
/// That end speaks first, and soft-iWARP may not notice: bytes that come while siw_accept() is
/// about to watch its socket are looked at only when more come (Linux 6.12). Whoever has one
/// request under way would wait for ever. A WRITE of no bytes names no memory that anybody looks at
/// (RFC 5040, 4.3), and means nothing to a peer that had noticed. One thread.
class Nudge {
 public:
  /// The work requests that are posted at most: room to be kept on the send queue.
  static constexpr unsigned kMost = 3;

  /// What a completion has in its wr_id when one could not be sent: nobody's own.
  static constexpr std::uint64_t kWorkId = 0x7fff'ffff'ffff'ffff;

  explicit Nudge(asio::io_context& io) : timer_(io) {}

  /// @param post posts one, unsignalled.
  void start(std::function<void()> post);

 private:
  void await();

  asio::steady_timer timer_;
  std::function<void()> post_;
  unsigned posted_ = 0;
  Lifetime lifetime_;
};

}  // namespace rdmablk::cm
