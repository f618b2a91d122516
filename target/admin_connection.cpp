#include "target/admin_connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <asio/buffer.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <utility>

#include "target/admin_reply.h"

namespace rdmablk::target {
namespace {

AdminConnection::Peer peer_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
  return {peer.pid, peer.uid};
}

}  // namespace

AdminConnection::AdminConnection(Socket socket, std::uint64_t number, const AdminLimits& limits,
                                 Handler& handler)
    : socket_(std::move(socket)),
      number_(number),
      limits_(limits),
      handler_(handler),
      peer_(peer_of(socket_.native_handle())),
      timer_(socket_.get_executor()),
      input_(limits.line) {}

/// Who takes longer is cut off: the operation under way ends with an error.
void AdminConnection::limit_time() {
  timer_.expires_after(limits_.patience);
  timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    asio::error_code ignored;
    if (!error) socket_.cancel(ignored);
  }));
}

void AdminConnection::read() {
  limit_time();
  asio::async_read_until(socket_, input_, '\n',
                         lifetime_.guard([this](const asio::error_code& error, std::size_t length) {
                           on_read(error, length);
                         }));
}

void AdminConnection::on_read(const asio::error_code& error, std::size_t length) {
  timer_.cancel();
  if (error == asio::error::not_found) {
    is_last_ = true;
    return reply(
        error_reply("null", fmt::format("a request is longer than {} bytes", limits_.line)));
  }
  if (error) return handler_.on_end(*this);
  const std::string line{static_cast<const char*>(input_.data().data()), length - 1};
  input_.consume(length);
  is_last_ = ++requests_ >= limits_.requests;
  handler_.on_line(*this, line);
}

void AdminConnection::reply(std::string line) {
  output_ = std::move(line);
  output_ += '\n';
  limit_time();
  asio::async_write(socket_, asio::buffer(output_),
                    lifetime_.guard([this](const asio::error_code& error, std::size_t /*length*/) {
                      on_written(error);
                    }));
}

void AdminConnection::on_written(const asio::error_code& error) {
  timer_.cancel();
  output_ = {};
  if (error || is_last_) return handler_.on_end(*this);
  read();
}

}  // namespace rdmablk::target
