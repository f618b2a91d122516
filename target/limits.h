#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/protocol/features.h"

namespace rdmablk::target {

/// The most queues of an attachment, whatever else is set.
inline constexpr std::size_t kMaxQueues = 64;

/// What a target grants, and how long it waits for others.
struct Limits {
  protocol::Features features = protocol::kKnownFeatures;  ///< that it offers

  std::size_t sessions = 1024;
  std::size_t client_sessions = 256;  ///< of one client, or address
  std::size_t handshakes = 128;       ///< peers that are not in yet, or were refused
  std::size_t attachments = 64;       ///< of a session

  /// I/O queues of a session that are connected: each takes a queue pair of the device.
  std::size_t session_queues = 512;

  std::size_t client_queues = 1024;  ///< the same, of all sessions of one client, or address

  unsigned admin_rate = 1000;  ///< messages a second of a session; 0: any number

  std::uint16_t queues = kMaxQueues;              ///< of an attachment
  std::uint32_t depth = 4096;                     ///< requests in flight on a queue
  std::uint32_t max_io = std::uint32_t{1} << 26;  ///< bytes of a request

  // Of exports whose requests the target's CPU works on.
  std::uint32_t slots = 32;                            ///< requests in flight on a queue
  std::uint32_t slot_size = std::uint32_t{128} << 10;  ///< bytes of a request

  std::chrono::milliseconds handshake{10'000};    ///< from a connection to its use
  std::chrono::milliseconds reticence{1'000};     ///< of one that need not give way to others yet
  std::chrono::milliseconds keepalive{5'000};     ///< how often a peer says something; 0: any time
  std::chrono::milliseconds lease_wait{2'000};    ///< for a writer that is just leaving
  std::chrono::milliseconds fence_wait{10'000};   ///< for one that is fenced, until it is through
  std::chrono::milliseconds resize_wait{30'000};  ///< for all to be through with a larger size
  std::chrono::milliseconds last_word{1'000};     ///< for the peer to read why its session ends
  std::chrono::milliseconds goodbye{1'000};       ///< for all to acknowledge that the target ends

  /// After which a peer that says nothing is taken for gone; zero: never.
  std::chrono::milliseconds silence() const noexcept { return 3 * keepalive; }
};

}  // namespace rdmablk::target
