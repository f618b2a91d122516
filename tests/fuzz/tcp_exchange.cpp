// Connecting by TCP: the messages, and what a listener makes of a stranger's bytes.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "common/cm/tcp/greeting.h"
#include "tests/fuzz/exact_copy.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

using namespace cm::tcp;

/// What is out of bounds has no meaning; what has one means the same when it is sent again.
template <typename Decode>
void check_body(std::span<const std::byte> body, Decode decode) {
  const auto message = decode(ExactCopy(body).bytes());
  if (!message) return;
  const auto sent = encode(*message);
  require(sent.size() <= Header::kSize + kMaxBody, "a message is no longer than any may be");
  const std::span<const std::byte, Header::kSize> head(sent.data(), Header::kSize);
  const auto header = Header::decode(head);
  require(header && header->size == sent.size() - Header::kSize, "a header tells the size");
  require(decode(std::span(sent).subspan(Header::kSize)) == message,
          "a message that is sent says the same");
}

void check_header(Input& input) {
  const auto bytes = input.array<std::array<std::byte, Header::kSize>>();
  const auto header = Header::decode(bytes);
  require(!header || header->size <= kMaxBody, "a header promises no more than there may be");
}

void check_reject_text(std::span<const std::byte> body) {
  const auto reject = decode_reject(body);
  if (!reject) return;
  require(std::ranges::all_of(reject->text(), [](char c) { return c >= ' ' && c < 0x7f; }),
          "a rejection's text may go to a terminal");
}

/// Counts what a greeting comes to.
class Witness final : public Greeting::Owner {
 public:
  unsigned told = 0;

 private:
  void on_request(Greeting& greeting, const Request& request) override {
    ++told;
    require(request.private_data.size() <= cm::kMaxPrivateData, "private data has a limit");
    require(greeting.take_conversation() != nullptr, "a request comes with its connection");
  }
  void on_nothing(Greeting& /*greeting*/, const std::string& /*why*/) override { ++told; }
};

void check_greeting(Input& input) {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0,
          "there are sockets");
  asio::io_context io{1};
  Witness witness;
  {
    asio::ip::tcp::socket socket(io);
    socket.assign(asio::ip::tcp::v4(), ends[0]);
    Greeting greeting(std::move(socket), std::chrono::hours(1), witness);
    while (!input.empty()) {
      const auto piece = input.block();
      if (::send(ends[1], piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
      io.poll();
    }
    ::close(ends[1]);
    io.restart();
    io.poll();
    require(witness.told == 1, "a greeting comes to something, once");
  }
  io.restart();
  io.poll();
}

void check(Input& input) {
  switch (input.choice(6)) {
    case 0:
      return check_header(input);
    case 1:
      return check_body(input.rest(), decode_request);
    case 2:
      return check_body(input.rest(), decode_accept);
    case 3: {
      const auto body = input.rest();
      check_reject_text(body);
      return check_body(body, decode_reject);
    }
    case 4:
      return check_body(input.rest(), decode_ready);
    default:
      return check_greeting(input);
  }
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::check(input);
  return 0;
}
