// What comes with connections: private data of requests and refusals, and the messages by which
// the software device connects.
#include <sys/socket.h>

#include <array>

#include "common/protocol/private_data.h"
#include "common/softverbs/cm/wire_message.h"
#include "common/unique_fd.h"
#include "tests/fuzz/exact_copy.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

void check_request(Input& input) {
  const auto received = input.rest();
  const auto request = protocol::QueueRequest::decode(ExactCopy(received).bytes());
  if (!request) return;
  require(received.size() >= protocol::QueueRequest::kSize, "a request has all its fields");
  const auto sent = request->encode();
  require(std::ranges::equal(sent, received.first(sent.size())), "a request is sent as it came");
}

void check_refusal(Input& input) {
  const auto refusal = protocol::QueueRefusal::decode(ExactCopy(input.rest()).bytes());
  if (!refusal) return;
  require(std::ranges::all_of(refusal->text, [](char c) { return c >= ' ' && c < 0x7f; }),
          "a refusal's text may go to a terminal");
  const auto again = protocol::QueueRefusal::decode(refusal->encode());
  require(again && again->status == refusal->status && again->text == refusal->text,
          "a refusal that is sent says the same");
}

/// The two ends of a connection between two processes on the software device.
struct Sockets {
  Sockets() {
    std::array<int, 2> ends{};
    require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0,
            "there are sockets");
    ours = UniqueFd(ends[0]);
    peers = UniqueFd(ends[1]);
  }
  UniqueFd ours;
  UniqueFd peers;
};

void check_wire_message(Input& input) {
  static const Sockets sockets;
  const auto sent = input.rest();
  if (sent.empty()) return;
  if (::send(sockets.peers.get(), sent.data(), sent.size(), MSG_DONTWAIT) < 0) return;
  softverbs::cm::Message message;
  const auto result = softverbs::cm::receive_message(sockets.ours.get(), message);
  require(result != softverbs::cm::ReceiveResult::kNothing, "what was sent is received");
  if (result != softverbs::cm::ReceiveResult::kMessage) return;
  require(message.private_data_size <= softverbs::cm::kMaxPrivateData,
          "private data lies within its message");
}

void check(Input& input) {
  switch (input.choice(3)) {
    case 0:
      return check_request(input);
    case 1:
      return check_refusal(input);
    default:
      return check_wire_message(input);
  }
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::check(input);
  return 0;
}
