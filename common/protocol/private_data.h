#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/cm/connection.h"
#include "common/protocol/messages.h"

namespace rdmablk::protocol {

/// The queue number that an admin queue carries.
inline constexpr std::uint16_t kAdminQueue = 0xffff;

/// What a request to connect carries: which queue it is, and the proof that it may be.
struct QueueRequest {
  static constexpr std::size_t kSize = cm::kMaxPrivateData;

  std::uint16_t queue = kAdminQueue;
  std::uint32_t epoch = 0;
  std::uint64_t attachment = 0;
  Nonce nonce{};
  Token proof{};

  std::array<std::byte, kSize> encode() const;

  /// @param received what the transport delivered, padded perhaps. Nothing for another version or a
  /// length out of bounds.
  static std::optional<QueueRequest> decode(std::span<const std::byte> received);
};

/// What a refused request to connect carries.
struct QueueRefusal {
  Status status = Status::internal;
  std::string text;

  std::array<std::byte, cm::kMaxRejectData> encode() const;
  static std::optional<QueueRefusal> decode(std::span<const std::byte> received);
};

}  // namespace rdmablk::protocol
