#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/cm/connection.h"

/// What two ends say to each other over TCP to connect two queue pairs: docs/protocol.md,
/// "Connecting by TCP". The connecting end sends REQUEST; the other answers ACCEPT or REJECT; after
/// ACCEPT the first sends READY. From there on the connection carries nothing, and its end is that
/// of the queue pairs.
namespace rdmablk::cm::tcp {

inline constexpr std::uint8_t kExchangeVersion = 1;

/// Where a queue pair is to be found, and what it takes.
struct Endpoint {
  std::uint32_t queue_pair = 0;      ///< its number; 24 bits
  std::uint32_t packet = 0;          ///< number of the first packet that it sends; 24 bits
  std::uint16_t lid = 0;             ///< of its port; InfiniBand
  std::uint8_t link_layer = 0;       ///< IBV_LINK_LAYER_INFINIBAND or IBV_LINK_LAYER_ETHERNET
  std::uint8_t gid_type = 0;         ///< of `gid`: an ibv_gid_type
  std::uint8_t mtu = IBV_MTU_256;    ///< the longest payload of a packet: an ibv_mtu
  std::uint8_t initiator_depth = 1;  ///< READs that it wants outstanding; not 0
  std::uint8_t responder_depth = 1;  ///< READs that it serves at a time; not 0
  std::array<std::byte, 16> gid{};   ///< of its port

  bool operator==(const Endpoint&) const = default;
};

struct Request {
  Endpoint from;
  std::vector<std::byte> private_data;  ///< at most kMaxPrivateData

  bool operator==(const Request&) const = default;
};

struct Accept {
  Endpoint from;

  bool operator==(const Accept&) const = default;
};

struct Reject {
  /// Who says so.
  enum class By : std::uint8_t {
    program = 0,     ///< whoever accepts connections; `data` is theirs
    connection = 1,  ///< what sets them up: the two ends do not fit; `data` is text for people
  };
  By by = By::program;
  std::vector<std::byte> data;  ///< at most kMaxRejectData

  /// `data` as text, in which control characters are not shown.
  std::string text() const;

  bool operator==(const Reject&) const = default;
};

struct Ready {
  bool operator==(const Ready&) const = default;
};

enum class MessageType : std::uint8_t { request = 1, accept = 2, reject = 3, ready = 4 };

/// What each message begins with.
struct Header {
  static constexpr std::size_t kSize = 8;

  std::uint8_t version = kExchangeVersion;
  MessageType type = MessageType::request;
  std::uint16_t size = 0;  ///< of what follows, in bytes

  /// @return nothing when this is no header, or what follows would be longer than any message.
  static std::optional<Header> decode(std::span<const std::byte, kSize> bytes) noexcept;
};

/// The longest message without its header, in bytes.
inline constexpr std::size_t kMaxBody = 256;

// Whole messages, with their headers. Decoding takes what follows the header, and gives nothing for
// what is out of bounds.
std::vector<std::byte> encode(const Request& request);
std::vector<std::byte> encode(const Accept& accept);
std::vector<std::byte> encode(const Reject& reject);
std::vector<std::byte> encode(const Ready& ready);
std::optional<Request> decode_request(std::span<const std::byte> body);
std::optional<Accept> decode_accept(std::span<const std::byte> body);
std::optional<Reject> decode_reject(std::span<const std::byte> body);
std::optional<Ready> decode_ready(std::span<const std::byte> body);

}  // namespace rdmablk::cm::tcp
