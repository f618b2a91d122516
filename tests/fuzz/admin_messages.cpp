// Payloads of the admin queue and headers: what is taken from a peer is in bounds, and says the
// same when it is sent on.
#include <vector>

#include "tests/fuzz/exact_copy.h"
#include "tests/fuzz/input.h"
#include "tests/unit/common/message_bounds.h"

namespace rdmablk::protocol {
namespace {

using fuzz::ExactCopy;
using fuzz::require;

template <typename Payload>
std::vector<std::byte> encode(const Payload& payload) {
  std::vector<std::byte> buffer(kMaxMessage - kHeaderSize);
  WireWriter writer(buffer);
  payload.encode(writer);
  require(writer.ok(), "what was decoded fits a message");
  buffer.resize(writer.size());
  return buffer;
}

/// Reserved bytes and what lies behind a text are dropped at the first pass, and only then.
template <typename Payload>
void check(std::span<const std::byte> received) {
  const auto decoded = Payload::decode(ExactCopy(received).bytes());
  if (!decoded) return;
  require(is_in_bounds(*decoded), "what was decoded is in bounds");
  const auto sent = encode(*decoded);
  require(sent.size() == received.size(), "it is as long as what came");
  const auto again = Payload::decode(ExactCopy(sent).bytes());
  require(again.has_value(), "what was decoded can be sent");
  require(encode(*again) == sent, "and says the same");
}

/// What has no reserved bytes and no texts comes back byte for byte.
template <typename Payload>
void check_exactly(std::span<const std::byte> received) {
  const auto decoded = Payload::decode(ExactCopy(received).bytes());
  if (decoded) require(std::ranges::equal(encode(*decoded), received), "it is the same bytes");
}

void check_header(std::span<const std::byte> received) {
  const ExactCopy copy(received);
  const auto message = decode_message(copy.bytes());
  if (!message) return;
  require(received.size() <= kMaxMessage, "a message is no longer than the longest");
  require(status_text(message->header.status) != nullptr, "every status has a text");
  std::vector<std::byte> sent(received.size());
  std::ranges::copy(message->payload, sent.begin() + kHeaderSize);
  finish_message(sent, message->header, message->payload.size());
  require(std::ranges::equal(sent, received), "a message is sent as it came");
}

void check_payload(unsigned kind, std::span<const std::byte> payload) {
  switch (kind) {
    case 0:
      return check<Hello>(payload);
    case 1:
      return check<HelloReply>(payload);
    case 2:
      return check<Authenticate>(payload);
    case 3:
      return check_exactly<AuthenticateReply>(payload);
    case 4:
      return check<List>(payload);
    case 5:
      return check<ListReply>(payload);
    case 6:
      return check<Attach>(payload);
    case 7:
      return check<AttachReply>(payload);
    case 8:
      return check_exactly<Detach>(payload);
    case 9:
      return check<EventNotice>(payload);
    case 10:
      return check<Reason>(payload);
    case 12:
      return check<UseReport>(payload);
    case 13:
      return check<Table>(payload);
    case 14:
      return check_exactly<TableReply>(payload);
    default:
      return check_header(payload);
  }
}

}  // namespace
}  // namespace rdmablk::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  const unsigned kind = input.choice(15);
  rdmablk::protocol::check_payload(kind, input.rest());
  return 0;
}
