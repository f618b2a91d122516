#include "common/protocol/private_data.h"

#include "common/protocol/wire.h"

namespace rdmablk::protocol {
namespace {

constexpr std::size_t kRefusalText = 128;

}  // namespace

std::array<std::byte, QueueRequest::kSize> QueueRequest::encode() const {
  std::array<std::byte, kSize> bytes{};
  WireWriter writer(bytes);
  writer.put(static_cast<std::uint8_t>(kSize));
  writer.put(kVersion);
  writer.put(queue);
  writer.put(epoch);
  writer.put(attachment);
  writer.put(std::span<const std::byte>(nonce));
  writer.put(std::span<const std::byte>(proof));
  return bytes;
}

std::optional<QueueRequest> QueueRequest::decode(std::span<const std::byte> received) {
  WireReader reader(received);
  std::uint8_t length = 0;
  std::uint8_t version = 0;
  QueueRequest request;
  reader.get(length);
  reader.get(version);
  reader.get(request.queue);
  reader.get(request.epoch);
  reader.get(request.attachment);
  reader.get(std::span<std::byte>(request.nonce));
  reader.get(std::span<std::byte>(request.proof));
  if (!reader.ok() || length != kSize || version != kVersion) return std::nullopt;
  return request;
}

std::array<std::byte, cm::kMaxRejectData> QueueRefusal::encode() const {
  std::array<std::byte, cm::kMaxRejectData> bytes{};
  WireWriter writer(bytes);
  writer.put(kVersion);
  writer.pad(3);
  writer.put(static_cast<std::uint32_t>(status));
  writer.put_text(std::string_view(text).substr(0, kRefusalText), kRefusalText);
  return bytes;
}

std::optional<QueueRefusal> QueueRefusal::decode(std::span<const std::byte> received) {
  WireReader reader(received);
  std::uint8_t version = 0;
  std::uint32_t status = 0;
  QueueRefusal refusal;
  reader.get(version);
  reader.skip(3);
  reader.get(status);
  reader.get_text(refusal.text, kRefusalText);
  if (!reader.ok() || version != kVersion) return std::nullopt;
  refusal.status = static_cast<Status>(status);
  const auto printable = Reason::decode(std::as_bytes(std::span(refusal.text)));
  refusal.text = printable ? printable->text : std::string();
  return refusal;
}

}  // namespace rdmablk::protocol
