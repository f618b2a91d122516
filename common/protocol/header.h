#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rdmablk::protocol {

/// The version of the protocol that this code speaks.
inline constexpr std::uint8_t kVersion = 1;

/// The longest message, header included, in bytes.
inline constexpr std::size_t kMaxMessage = 4096;

inline constexpr std::size_t kHeaderSize = 24;

/// Requests that an initiator may have unanswered on its admin queue.
inline constexpr unsigned kAdminCredits = 8;

/// Receives that each end posts on an admin queue: the credits, one EVENT and one KEEPALIVE.
inline constexpr unsigned kAdminReceives = kAdminCredits + 2;

enum class MessageType : std::uint16_t {
  hello = 1,
  authenticate = 2,
  list = 3,
  attach = 4,
  detach = 5,
  keepalive = 6,
  event = 7,
  error = 8,
  table = 9,
  // On I/O queues of file and resident exports.
  read = 32,
  write = 33,
  flush = 34,
  zero = 35,
  map = 36,
  queue = 37,
};

/// How a request ended.
enum class Status : std::uint32_t {
  ok = 0,
  malformed = 1,       ///< a message that cannot be understood; ends the session
  version = 2,         ///< no common version
  unauthorized = 3,    ///< the peer is not who it says, or may not
  no_export = 4,       ///< no export of that name that this client may see
  read_only = 5,       ///< writing was asked for and is not allowed
  busy = 6,            ///< another holds the lease
  limit = 7,           ///< a limit is reached
  no_attachment = 8,   ///< no such attachment in this session
  not_supported = 9,   ///< a type or feature that this end does not have
  shutting_down = 10,  ///< the target is about to end
  internal = 11,       ///< the target failed; its log says how
  stale = 12,          ///< the generation or the epoch is not the current one
  io_error = 13,       ///< the target's storage failed (EIO)
  no_space = 14,       ///< the target's storage is full (ENOSPC)
  fenced = 15,         ///< the lease was given to another since: nothing of it may be written
};

/// What every message starts with. `docs/protocol.md` has the bytes.
struct Header {
  MessageType type{};
  bool is_reply = false;
  Status status = Status::ok;  ///< of a reply
  std::uint64_t tag = 0;       ///< chosen by who asks, returned in the reply
};

/// A message taken apart; `payload` points into the buffer that it was decoded from.
struct Message {
  Header header;
  std::span<const std::byte> payload;
};

/// Checks and takes apart what was received. Nothing for a wrong magic, version or length, or
/// unknown flags; types and statuses are not checked.
std::optional<Message> decode_message(std::span<const std::byte> received);

/// Writes the header in front of a payload that lies at `buffer + kHeaderSize` already.
/// @return the message's length. @pre kHeaderSize + payload_size <= buffer.size().
std::size_t finish_message(std::span<std::byte> buffer, const Header& header,
                           std::size_t payload_size);

/// What a status means, for people: "no such export".
const char* status_text(Status status);

}  // namespace rdmablk::protocol
