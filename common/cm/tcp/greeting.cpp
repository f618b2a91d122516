#include "common/cm/tcp/greeting.h"

#include <fmt/format.h>

#include "common/cm/tcp/addresses.h"
#include "common/seconds.h"

namespace rdmablk::cm::tcp {
namespace {

using Kind = Conversation::Received::Kind;

std::vector<std::byte> to_bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Greeting::Greeting(asio::ip::tcp::socket socket, std::chrono::milliseconds patience, Owner& owner)
    : owner_(owner),
      conversation_(std::make_unique<Conversation>(std::move(socket))),
      peer_(to_address(conversation_->remote()).text()),
      patience_(conversation_->socket().get_executor()) {
  patience_.expires_after(patience);
  patience_.async_wait(lifetime_.guard([this, patience](const asio::error_code& error) {
    if (error) return;
    owner_.on_nothing(
        *this, fmt::format("it did not ask for a connection within {:g} s", in_seconds(patience)));
  }));
  conversation_->read([this](const Conversation::Received& received) { take(received); });
}

void Greeting::take(const Conversation::Received& received) {
  patience_.cancel();
  switch (received.kind) {
    case Kind::message:
      return take_message(received);
    case Kind::nonsense:
      return owner_.on_nothing(*this, "what it says is no request to connect");
    case Kind::ended:
      return owner_.on_nothing(*this, "");
  }
}

void Greeting::take_message(const Conversation::Received& received) {
  if (received.header.version != kExchangeVersion) {
    refuse(fmt::format("this end speaks version {} of connecting by TCP, not {}", kExchangeVersion,
                       received.header.version));
    return owner_.on_nothing(
        *this, fmt::format("it speaks version {} of connecting by TCP", received.header.version));
  }
  const auto request =
      received.header.type == MessageType::request ? decode_request(received.body) : std::nullopt;
  if (!request) return owner_.on_nothing(*this, "its request to connect makes no sense");
  owner_.on_request(*this, *request);
}

void Greeting::refuse(const std::string& why) {
  conversation_->send(encode(Reject{Reject::By::connection, to_bytes(why)}));
  conversation_->shut_down();
}

}  // namespace rdmablk::cm::tcp
