#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/protocol/header.h"
#include "common/protocol/wire.h"

/// The payloads of messages on I/O queues: of file exports, which the target's CPU serves, and of
/// resident ones, which it flushes. A request's tag is the number of its slot: it is answered with
/// the same tag, and until then no other request uses it. Nothing here allocates.
/// `docs/protocol.md` has the bytes.
namespace rdmablk::protocol {

/// Requests that may be unanswered on an I/O queue of a resident export.
inline constexpr unsigned kResidentCommands = 4;

/// Bytes that a message on an I/O queue has at most, but for what has ranges or extents.
inline constexpr unsigned kShortMessage = 64;

/// The reply to QUEUE, which opens an I/O queue that carries messages. The request has no payload.
struct QueueReply {
  std::uint64_t address = 0;   ///< of slot 0; zero where data does not go through slots
  std::uint32_t rkey = 0;      ///< of all slots
  std::uint32_t commands = 0;  ///< requests that may be unanswered: slots 0 to commands - 1
  std::uint32_t stride = 0;    ///< bytes from one slot to the next
  std::uint32_t max_io = 0;    ///< bytes of the largest READ or WRITE

  /// Bytes, a power of two: the data of a request at `offset` lies `offset % alignment` behind the
  /// start of its slot.
  std::uint32_t alignment = 1;

  void encode(WireWriter& writer) const;
  static std::optional<QueueReply> decode(std::span<const std::byte> payload);
};

/// READ, WRITE, FLUSH, ZERO and MAP, each with what it needs of this.
struct IoRequest {
  /// WRITE, ZERO: on stable storage before the reply.
  static constexpr std::uint32_t kDurable = 1;
  /// ZERO: the space may be given back.
  static constexpr std::uint32_t kDiscard = 2;
  /// FLUSH of a resident export: more of its ranges follow in another message.
  static constexpr std::uint32_t kMore = 4;

  std::uint64_t offset = 0;  ///< bytes, within the export
  std::uint64_t length = 0;  ///< bytes; not zero but for FLUSH
  std::uint32_t flags = 0;
  std::uint32_t count = 0;  ///< FLUSH: of the ranges that follow; MAP: extents wanted at most

  void encode(WireWriter& writer) const;
};

/// A range of bytes of an export.
struct Range {
  static constexpr std::size_t kSize = 16;

  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  void encode(WireWriter& writer) const;
  void decode(WireReader& reader);
};

/// An IoRequest as it came, with the ranges that follow it; points into what it was decoded from.
class IoCommand {
 public:
  /// The most ranges in one message.
  static constexpr std::size_t kMaxRanges =
      (kMaxMessage - kHeaderSize - sizeof(IoRequest)) / Range::kSize;

  /// Checks what a peer sent against the export's size: ranges lie within it, flags are known. The
  /// ranges of a FLUSH ascend and do not overlap: so no message asks for more than the export once.
  static std::optional<IoCommand> decode(MessageType type, std::span<const std::byte> payload,
                                         std::uint64_t export_size);

  const IoRequest& request() const noexcept { return request_; }
  bool durable() const noexcept { return (request_.flags & IoRequest::kDurable) != 0; }
  bool discards() const noexcept { return (request_.flags & IoRequest::kDiscard) != 0; }
  bool has_more() const noexcept { return (request_.flags & IoRequest::kMore) != 0; }

  /// How many ranges a FLUSH carries.
  std::size_t range_count() const noexcept { return ranges_.size() / Range::kSize; }

  /// @param index less than range_count().
  Range range(std::size_t index) const noexcept;

 private:
  IoRequest request_;
  std::span<const std::byte> ranges_;
};

/// A piece of an export's map. Pieces follow one another from where the map was asked for.
struct Extent {
  static constexpr std::size_t kSize = 16;

  std::uint64_t length = 0;  ///< bytes, not zero
  bool is_hole = false;      ///< reads as zeroes, and takes no space

  bool operator==(const Extent&) const = default;
};

/// The most extents in one reply to MAP.
inline constexpr std::size_t kMaxExtents = (kMaxMessage - kHeaderSize - 8) / Extent::kSize;

/// The reply to MAP.
void encode_extents(WireWriter& writer, std::span<const Extent> extents);

/// @param into room for kMaxExtents.
/// @return how many there are; nothing when the payload makes no sense or has more.
std::optional<std::size_t> decode_extents(std::span<const std::byte> payload,
                                          std::span<Extent> into);

/// How the data path names what went wrong.
Status status_of_errno(int error) noexcept;

/// The errno value that a status stands for; 0 for Status::ok, EIO where nothing fits better.
int errno_of_status(Status status) noexcept;

}  // namespace rdmablk::protocol
