#pragma once

#include <cstdint>

namespace softverbs {

/// What processes say to one another over SOCK_SEQPACKET sockets. A process connects to each peer
/// that its queue pairs send to; requests go one way on that connection and replies come back.
/// Both ends are the same library on the same host, so the layout is the compiler's.
inline constexpr uint32_t kMessageVersion = 4;

/// The first message of a connection, and its answer, which carries the table's memfd.
struct Hello {
  uint32_t version;
  uint32_t reserved;
  uint64_t token;  ///< The identity of the speaker.
};

enum class MessageType : uint32_t {
  kSend,       ///< A SEND or a piece of one.
  kWriteImm,   ///< The data of a WRITE with immediate is in place.
  kAtomic,     ///< COMPARE AND SWAP or FETCH AND ADD, for the responder to do.
  kCopyWrite,  ///< A piece of a WRITE that the requester may not do itself.
  kCopyRead,   ///< Likewise of a READ.
  kViolation,  ///< The requester was refused: the responder's queue pair fails.
  kReply,
  kRegionGone,  ///< From the responder: nobody uses region `rkey` any more.
};

enum class ReplyStatus : uint32_t {
  kDone,
  kNoReceive,  ///< RNR NAK.
  kNotReady,   ///< The queue pair is not connected to the requester (yet).
  kGone,       ///< There is no such queue pair, or it is in error.
  kInvalid,    ///< NAK invalid request.
  kAccess,     ///< NAK remote access error.
  kFailed,     ///< NAK remote operational error.
};

enum MessageFlags : uint32_t {
  kHasImmediate = 1,
  kSolicited = 2,
  kFirst = 4,
  kLast = 8,
  kCompareSwap = 16,
};

struct Message {
  MessageType type;
  ReplyStatus status;
  uint32_t source_qpn;
  uint32_t dest_qpn;
  uint32_t epoch;  ///< Which connection of the requester's queue pair; a reply repeats it.
  uint32_t psn;    ///< The first PSN of that connection.
  uint32_t msn;    ///< Which message of that connection.
  uint32_t flags;
  uint32_t immediate;
  uint32_t rkey;
  uint64_t remote_address;
  uint32_t length;   ///< Of the whole operation.
  uint32_t offset;   ///< Of this piece.
  uint32_t payload;  ///< Bytes behind this header, or wanted.
  uint32_t rnr_timer;
  uint32_t dest_port;  ///< QueuePairSlot::port of the responder's queue pair.
  uint32_t reserved;
  uint64_t compare_add;
  uint64_t swap;
};

}  // namespace softverbs
