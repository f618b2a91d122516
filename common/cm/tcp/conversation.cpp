#include "common/cm/tcp/conversation.h"

#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <utility>

namespace rdmablk::cm::tcp {

Conversation::~Conversation() {
  asio::error_code ignored;
  wire_->socket.close(ignored);
}

void Conversation::start(const asio::ip::tcp::endpoint& peer,
                         std::function<void(const asio::error_code&)> connected) {
  wire_->socket.async_connect(
      peer, lifetime_.guard([this, connected = std::move(connected)](asio::error_code error) {
        if (!error) wire_->socket.non_blocking(true, error);
        asio::error_code ignored;
        wire_->socket.set_option(asio::ip::tcp::no_delay(true), ignored);
        connected(error);
      }));
}

/// A reading may go on in several steps, which the guard does not know of: the wire stays for them.
void Conversation::read(Taker take) {
  take_ = std::move(take);
  asio::async_read(wire_->socket, asio::buffer(wire_->header),
                   [wire = wire_, guarded = lifetime_.guard([this](const asio::error_code& error) {
                     take_header(error);
                   })](const asio::error_code& error, std::size_t /*size*/) { guarded(error); });
}

void Conversation::take_header(const asio::error_code& error) {
  if (error) return give({.error = error});
  const auto header = Header::decode(wire_->header);
  if (!header) return give({.kind = Received::Kind::nonsense});
  header_ = *header;
  asio::async_read(
      wire_->socket, asio::buffer(wire_->body, header_.size),
      [wire = wire_, guarded = lifetime_.guard([this](const asio::error_code& failure) {
        take_body(failure);
      })](const asio::error_code& failure, std::size_t /*size*/) { guarded(failure); });
}

void Conversation::take_body(const asio::error_code& error) {
  if (error) return give({.error = error});
  give({Received::Kind::message, header_, std::span(wire_->body).first(header_.size), {}});
}

/// May destroy this.
void Conversation::give(const Received& received) {
  const auto wire = wire_;  // has the body
  const Taker take = std::exchange(take_, nullptr);
  take(received);
}

bool Conversation::send(std::span<const std::byte> message) noexcept {
  asio::error_code error;
  const std::size_t sent =
      wire_->socket.send(asio::buffer(message.data(), message.size()), 0, error);
  return !error && sent == message.size();
}

void Conversation::shut_down() noexcept {
  asio::error_code ignored;
  wire_->socket.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
}

asio::ip::tcp::endpoint Conversation::local() const noexcept {
  asio::error_code ignored;
  return wire_->socket.local_endpoint(ignored);
}

asio::ip::tcp::endpoint Conversation::remote() const noexcept {
  asio::error_code ignored;
  return wire_->socket.remote_endpoint(ignored);
}

}  // namespace rdmablk::cm::tcp
