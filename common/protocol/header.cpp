#include "common/protocol/header.h"

#include "common/protocol/wire.h"

namespace rdmablk::protocol {
namespace {

constexpr std::uint32_t kMagic = 0x4b4c4252;  // "RBLK"
constexpr std::uint8_t kFlagReply = 1;

}  // namespace

std::optional<Message> decode_message(std::span<const std::byte> received) {
  WireReader reader(received);
  std::uint32_t magic = 0;
  std::uint8_t version = 0;
  std::uint8_t flags = 0;
  std::uint16_t type = 0;
  std::uint32_t length = 0;
  std::uint32_t status = 0;
  Message message;
  reader.get(magic);
  reader.get(version);
  reader.get(flags);
  reader.get(type);
  reader.get(length);
  reader.get(status);
  reader.get(message.header.tag);
  if (!reader.ok() || magic != kMagic || version != kVersion || (flags & ~kFlagReply) != 0 ||
      length != received.size() || length > kMaxMessage) {
    return std::nullopt;
  }
  message.header.type = static_cast<MessageType>(type);
  message.header.is_reply = flags == kFlagReply;
  message.header.status = static_cast<Status>(status);
  message.payload = reader.rest();
  return message;
}

std::size_t finish_message(std::span<std::byte> buffer, const Header& header,
                           std::size_t payload_size) {
  const std::size_t length = kHeaderSize + payload_size;
  WireWriter writer(buffer.first(kHeaderSize));
  writer.put(kMagic);
  writer.put(kVersion);
  writer.put(header.is_reply ? kFlagReply : std::uint8_t{0});
  writer.put(static_cast<std::uint16_t>(header.type));
  writer.put(static_cast<std::uint32_t>(length));
  writer.put(static_cast<std::uint32_t>(header.status));
  writer.put(header.tag);
  return length;
}

const char* status_text(Status status) {
  switch (status) {
    case Status::ok:
      return "done";
    case Status::malformed:
      return "malformed message";
    case Status::version:
      return "no common version of the protocol";
    case Status::unauthorized:
      return "not authorized";
    case Status::no_export:
      return "no such export";
    case Status::read_only:
      return "the export is read-only";
    case Status::busy:
      return "another initiator holds the export";
    case Status::limit:
      return "a limit is reached";
    case Status::no_attachment:
      return "no such attachment";
    case Status::not_supported:
      return "not supported";
    case Status::shutting_down:
      return "the target is shutting down";
    case Status::internal:
      return "the target failed";
    case Status::stale:
      return "out of date";
    case Status::io_error:
      return "the target's storage failed";
    case Status::no_space:
      return "the target's storage is full";
    case Status::fenced:
      return "the lease was given to another initiator";
  }
  return "unknown status";
}

}  // namespace rdmablk::protocol
