#pragma once

#include <infiniband/verbs.h>
#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace softverbs::cm {

/// What a message of the handshake says. The names are those of the InfiniBand connection
/// manager (InfiniBand Architecture Specification, volume 1, chapter 12).
enum class MessageKind : uint8_t {
  kRequest = 1,   ///< REQ: active to passive, first message of a connection
  kReply,         ///< REP: passive accepts
  kReadyToUse,    ///< RTU: active has connected its queue pair
  kReject,        ///< REJ
  kDisconnect,    ///< DREQ
  kDisconnected,  ///< DREP
};

/// Reasons of a reject, as the events' status shows them.
constexpr int kRejectTimeout = 4;
constexpr int kRejectInvalidServiceId = 8;
constexpr int kRejectStaleConnection = 10;
constexpr int kRejectConsumerDefined = 28;

/// Private data that RoCE carries, in bytes; an event always shows that many, padded with zeroes.
constexpr size_t kRequestPrivateData = 56;
constexpr size_t kReplyPrivateData = 196;
constexpr size_t kRejectPrivateData = 148;
/// iWARP carries 512, but the interface counts in one byte. Events show what was sent.
constexpr size_t kMaxPrivateData = 255;

/// One message. It is one packet of a SOCK_SEQPACKET socket between two processes of one host,
/// so it is sent as it lies in memory; fields that a kind has no use for are zero.
struct Message {
  static constexpr uint32_t kMagic = 0x736d6331;  // changes with the layout

  uint32_t magic = kMagic;
  MessageKind kind = MessageKind::kRequest;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t flow_control = 0;
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;
  uint8_t srq = 0;
  uint8_t mtu = 0;  ///< enum ibv_mtu
  uint32_t qp_num = 0;
  uint32_t starting_psn = 0;  ///< what the receiver of this message is to send with first
  int32_t reason = 0;         ///< of a reject
  uint16_t private_data_size = 0;
  uint16_t reserved = 0;
  ibv_gid gid{};
  sockaddr_in6 source{};  ///< of the sender; either family fits
  sockaddr_in6 destination{};
  std::array<uint8_t, 256> private_data{};
};

/// Sends without blocking. A peer that is gone is no error here: the end of the stream tells.
void send_message(int socket, const Message& message);

enum class ReceiveResult : uint8_t { kMessage, kNothing, kEnd };

/// Takes one message without blocking.
/// @return kEnd also for anything that is no message: such a peer is not listened to any more.
ReceiveResult receive_message(int socket, Message& message);

/// Copies private data into a message.
/// @pre data.size() <= kMaxPrivateData
void set_private_data(Message& message, std::span<const uint8_t> data);

}  // namespace softverbs::cm
