#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "common/protocol/header.h"
#include "common/protocol/io_messages.h"

/// Messages as they travel, for inputs.
namespace rdmablk::fuzz {

using protocol::MessageType;

inline std::vector<std::byte> message(const protocol::Header& header,
                                      std::span<const std::byte> payload = {}) {
  std::vector<std::byte> bytes(protocol::kHeaderSize + payload.size());
  std::ranges::copy(payload, bytes.begin() + protocol::kHeaderSize);
  protocol::finish_message(bytes, header, payload.size());
  return bytes;
}

inline std::vector<std::byte> request(MessageType type, std::span<const std::byte> payload = {},
                                      std::uint64_t tag = 7) {
  return message({type, false, protocol::Status::ok, tag}, payload);
}

inline std::vector<std::byte> reply(MessageType type, std::span<const std::byte> payload = {},
                                    std::uint64_t tag = 7,
                                    protocol::Status status = protocol::Status::ok) {
  return message({type, true, status, tag}, payload);
}

inline std::vector<std::byte> command(std::uint64_t offset, std::uint64_t length,
                                      std::uint32_t flags = 0,
                                      std::span<const protocol::Range> ranges = {}) {
  std::vector<std::byte> bytes(protocol::kMaxMessage);
  protocol::WireWriter writer(bytes);
  protocol::IoRequest{offset, length, flags, static_cast<std::uint32_t>(ranges.size())}.encode(
      writer);
  for (const protocol::Range& range : ranges) range.encode(writer);
  bytes.resize(writer.size());
  return bytes;
}

inline std::vector<std::byte> extents(std::span<const protocol::Extent> list) {
  std::vector<std::byte> bytes(protocol::kMaxMessage);
  protocol::WireWriter writer(bytes);
  protocol::encode_extents(writer, list);
  bytes.resize(writer.size());
  return bytes;
}

inline constexpr std::array kRanges{protocol::Range{0, 512}, protocol::Range{4096, 8192}};
inline constexpr std::array kExtents{protocol::Extent{4096, false}, protocol::Extent{8192, true}};

}  // namespace rdmablk::fuzz
