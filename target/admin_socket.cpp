#include "target/admin_socket.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <utility>

#include "common/error.h"
#include "target/admin_reply.h"

namespace rdmablk::target {
namespace {

/// Until the next attempt when one failed: what it is about, such as descriptors that ran out,
/// lasts.
constexpr std::chrono::milliseconds kPause{200};

}  // namespace

AdminSocket::AdminSocket(asio::io_context& io, UniqueFd listener, AdminService& service,
                         const AdminLimits& limits)
    : service_(service),
      limits_(limits),
      acceptor_(io, asio::local::stream_protocol(), listener.release()),
      pause_(io) {
  accept();
}

AdminSocket::~AdminSocket() = default;

void AdminSocket::accept() {
  acceptor_.async_accept(
      lifetime_.guard([this](const asio::error_code& error, AdminConnection::Socket socket) {
        if (error) return pause(error);
        welcome(std::move(socket));
        accept();
      }));
}

void AdminSocket::pause(const asio::error_code& error) {
  const auto line =
      troubles_.note(fmt::format("cannot hear administrators: {}", errno_text(error.value())));
  if (line) spdlog::warn("{}", *line);
  pause_.expires_after(kPause);
  pause_.async_wait(lifetime_.guard([this](const asio::error_code& cancelled) {
    if (!cancelled) accept();
  }));
}

void AdminSocket::welcome(AdminConnection::Socket socket) {
  if (connections_.size() >= limits_.connections) {
    const std::string text =
        error_reply("null", fmt::format("there are {} connections to this socket already: try "
                                        "again when one has ended",
                                        connections_.size())) +
        "\n";
    ::send(socket.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  const std::uint64_t number = ++last_number_;
  AdminConnection::Handler& handler = *this;
  auto connection = std::make_unique<AdminConnection>(std::move(socket), number, limits_, handler);
  connections_.emplace(number, std::move(connection)).first->second->start();
}

void AdminSocket::on_end(AdminConnection& connection) {
  connections_.erase(connection.number());
}

void AdminSocket::on_line(AdminConnection& connection, std::string_view text) {
  const auto decoded = decode_admin_request(text);
  if (const auto* const refusal = std::get_if<AdminRefusal>(&decoded)) {
    return connection.reply(error_reply(refusal->id, refusal->reason, refusal->is_usage));
  }
  const auto& request = std::get<AdminRequest>(decoded);
  if (request.is_change()) log(connection, request);
  service_.serve(request, answer_to(connection));
}

void AdminSocket::log(const AdminConnection& connection, const AdminRequest& request) {
  const auto line =
      changes_.note(fmt::format("process {} of user {} asks: {}", connection.peer().pid,
                                connection.peer().uid, request.text()));
  if (line) spdlog::info("{}", *line);
}

/// Whoever asked may have gone by then, and this, too.
AdminService::Answer AdminSocket::answer_to(const AdminConnection& connection) {
  return lifetime_.guard([this, number = connection.number()](std::string reply) {
    const auto found = connections_.find(number);
    if (found != connections_.end()) found->second->reply(std::move(reply));
  });
}

}  // namespace rdmablk::target
