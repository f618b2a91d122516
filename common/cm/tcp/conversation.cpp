#include "common/cm/tcp/conversation.h"

#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <utility>

namespace rdmablk::cm::tcp {

void Conversation::start(const asio::ip::tcp::endpoint& peer,
                         std::function<void(const asio::error_code&)> connected) {
  socket_.async_connect(
      peer, lifetime_.guard([this, connected = std::move(connected)](asio::error_code error) {
        if (!error) socket_.non_blocking(true, error);
        asio::error_code ignored;
        socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
        connected(error);
      }));
}

void Conversation::read(Taker take) {
  take_ = std::move(take);
  asio::async_read(socket_, asio::buffer(header_bytes_),
                   lifetime_.guard([this](const asio::error_code& error, std::size_t /*size*/) {
                     take_header(error);
                   }));
}

void Conversation::take_header(const asio::error_code& error) {
  if (error) return give({.error = error});
  const auto header = Header::decode(header_bytes_);
  if (!header) return give({.kind = Received::Kind::nonsense});
  header_ = *header;
  asio::async_read(socket_, asio::buffer(body_, header_.size),
                   lifetime_.guard([this](const asio::error_code& failure, std::size_t /*size*/) {
                     take_body(failure);
                   }));
}

void Conversation::take_body(const asio::error_code& error) {
  if (error) return give({.error = error});
  give({Received::Kind::message, header_, std::span(body_).first(header_.size), {}});
}

/// May destroy this.
void Conversation::give(const Received& received) {
  const Taker take = std::exchange(take_, nullptr);
  take(received);
}

bool Conversation::send(std::span<const std::byte> message) noexcept {
  asio::error_code error;
  const std::size_t sent = socket_.send(asio::buffer(message.data(), message.size()), 0, error);
  return !error && sent == message.size();
}

void Conversation::shut_down() noexcept {
  asio::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
}

asio::ip::tcp::endpoint Conversation::local() const noexcept {
  asio::error_code ignored;
  return socket_.local_endpoint(ignored);
}

asio::ip::tcp::endpoint Conversation::remote() const noexcept {
  asio::error_code ignored;
  return socket_.remote_endpoint(ignored);
}

}  // namespace rdmablk::cm::tcp
