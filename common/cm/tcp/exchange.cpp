#include "common/cm/tcp/exchange.h"

#include <algorithm>

#include "common/protocol/wire.h"

namespace rdmablk::cm::tcp {
namespace {

using protocol::WireReader;
using protocol::WireWriter;

constexpr std::uint32_t kMagic = 0x4d43'4252;  // "RBCM"
constexpr std::uint32_t k24Bits = 0xff'ffff;
constexpr std::size_t kEndpointSize = 36;

/// The bytes of a text that go into a rejection.
constexpr std::size_t kMaxText = kMaxRejectData;

void put(WireWriter& writer, const Endpoint& endpoint) {
  writer.put(endpoint.queue_pair);
  writer.put(endpoint.packet);
  writer.put(endpoint.lid);
  writer.put(endpoint.link_layer);
  writer.put(endpoint.gid_type);
  writer.put(endpoint.mtu);
  writer.put(endpoint.initiator_depth);
  writer.put(endpoint.responder_depth);
  writer.pad(5);
  writer.put(std::span<const std::byte>(endpoint.gid));
}

/// @return whether it is an endpoint that a queue pair can be connected to.
bool get(WireReader& reader, Endpoint& endpoint) {
  reader.get(endpoint.queue_pair);
  reader.get(endpoint.packet);
  reader.get(endpoint.lid);
  reader.get(endpoint.link_layer);
  reader.get(endpoint.gid_type);
  reader.get(endpoint.mtu);
  reader.get(endpoint.initiator_depth);
  reader.get(endpoint.responder_depth);
  reader.skip(5);
  reader.get(std::span(endpoint.gid));
  const bool has_link = endpoint.link_layer == IBV_LINK_LAYER_INFINIBAND ||
                        endpoint.link_layer == IBV_LINK_LAYER_ETHERNET;
  return reader.ok() && endpoint.queue_pair <= k24Bits && endpoint.packet <= k24Bits && has_link &&
         endpoint.gid_type <= IBV_GID_TYPE_ROCE_V2 && endpoint.mtu >= IBV_MTU_256 &&
         endpoint.mtu <= IBV_MTU_4096 && endpoint.initiator_depth > 0 &&
         endpoint.responder_depth > 0;
}

template <typename Fill>
std::vector<std::byte> message(MessageType type, std::size_t size, Fill fill) {
  std::vector<std::byte> bytes(Header::kSize + size);
  WireWriter writer(bytes);
  writer.put(kMagic);
  writer.put(kExchangeVersion);
  writer.put(static_cast<std::uint8_t>(type));
  writer.put(static_cast<std::uint16_t>(size));
  fill(writer);
  return bytes;
}

std::vector<std::byte> rest_of(const WireReader& reader) {
  return {reader.rest().begin(), reader.rest().end()};
}

}  // namespace

std::string Reject::text() const {
  std::string shown;
  for (const std::byte byte : data) {
    const char c = static_cast<char>(byte);
    shown += c >= ' ' && c < 0x7f ? c : '?';
  }
  return shown;
}

std::optional<Header> Header::decode(std::span<const std::byte, kSize> bytes) noexcept {
  WireReader reader(bytes);
  std::uint32_t magic = 0;
  std::uint8_t type = 0;
  Header header;
  reader.get(magic);
  reader.get(header.version);
  reader.get(type);
  reader.get(header.size);
  const bool is_type = type >= static_cast<std::uint8_t>(MessageType::request) &&
                       type <= static_cast<std::uint8_t>(MessageType::ready);
  if (magic != kMagic || !is_type || header.size > kMaxBody) return std::nullopt;
  header.type = static_cast<MessageType>(type);
  return header;
}

std::vector<std::byte> encode(const Request& request) {
  return message(MessageType::request, kEndpointSize + request.private_data.size(),
                 [&](WireWriter& writer) {
                   put(writer, request.from);
                   writer.put(std::span<const std::byte>(request.private_data));
                 });
}

std::vector<std::byte> encode(const Accept& accept) {
  return message(MessageType::accept, kEndpointSize,
                 [&](WireWriter& writer) { put(writer, accept.from); });
}

std::vector<std::byte> encode(const Reject& reject) {
  const auto data = std::span(reject.data).first(std::min(reject.data.size(), kMaxText));
  return message(MessageType::reject, 1 + data.size(), [&](WireWriter& writer) {
    writer.put(static_cast<std::uint8_t>(reject.by));
    writer.put(data);
  });
}

std::vector<std::byte> encode(const Ready& /*ready*/) {
  return message(MessageType::ready, 0, [](WireWriter& /*writer*/) {});
}

std::optional<Request> decode_request(std::span<const std::byte> body) {
  WireReader reader(body);
  Request request;
  if (!get(reader, request.from) || reader.rest().size() > kMaxPrivateData) return std::nullopt;
  request.private_data = rest_of(reader);
  return request;
}

std::optional<Accept> decode_accept(std::span<const std::byte> body) {
  WireReader reader(body);
  Accept accept;
  if (!get(reader, accept.from) || !reader.rest().empty()) return std::nullopt;
  return accept;
}

std::optional<Reject> decode_reject(std::span<const std::byte> body) {
  WireReader reader(body);
  std::uint8_t by = 0;
  reader.get(by);
  const bool is_known = by <= static_cast<std::uint8_t>(Reject::By::connection);
  if (!reader.ok() || !is_known || reader.rest().size() > kMaxRejectData) return std::nullopt;
  return Reject{static_cast<Reject::By>(by), rest_of(reader)};
}

std::optional<Ready> decode_ready(std::span<const std::byte> body) {
  if (!body.empty()) return std::nullopt;
  return Ready{};
}

}  // namespace rdmablk::cm::tcp
