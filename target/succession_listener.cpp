#include "target/succession_listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <asio/read_until.hpp>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "target/line_socket.h"

namespace rdmablk::target {
namespace {

/// How long a process that has connected may take to say what it wants.
constexpr std::chrono::seconds kPatience{5};

/// Until the next attempt when one failed: what it is about, such as descriptors that ran out,
/// lasts.
constexpr std::chrono::milliseconds kPause{200};

void send_refusal(int socket, const std::string& why) {
  send_line(socket, nlohmann::json{{"refused", why}}.dump(
                        -1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

SuccessionListener::SuccessionListener(asio::io_context& io, SuccessionHandler& handler)
    : io_(io), handler_(handler), acceptor_(io), patience_(io) {
  using Protocol = asio::local::stream_protocol;
  try {
    acceptor_.open(Protocol());
    acceptor_.bind(Protocol::endpoint(succession_socket_name(::getpid())));
    acceptor_.listen();
  } catch (const std::system_error& error) {
    if (error.code().value() != EADDRINUSE) {
      throw SystemError("await a successor on a Unix socket", error.code().value());
    }
    // Any user of this machine can do that, and must not keep a target from serving.
    spdlog::warn("no process can succeed this target: another has taken its socket's name");
    return;
  }
  accept();
}

SuccessionListener::~SuccessionListener() = default;

void SuccessionListener::accept() {
  acceptor_.async_accept([this](const asio::error_code& error, Socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) return pause(error);
    hear(std::move(socket));
  });
}

void SuccessionListener::pause(const asio::error_code& error) {
  const auto line = intruders_.note(
      fmt::format("cannot hear who would succeed this target: {}", errno_text(error.value())));
  if (line) spdlog::warn("{}", *line);
  patience_.expires_after(kPause);
  patience_.async_wait([this](const asio::error_code& cancelled) {
    if (!cancelled) accept();
  });
}

void SuccessionListener::hear(Socket socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const int fd = socket.native_handle();
  const bool known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (!known || (peer.uid != ::geteuid() && peer.uid != 0)) {
    const std::string why = fmt::format(
        "process {} of user {} may not succeed this target: it takes root, or the user "
        "it runs as",
        peer.pid, peer.uid);
    if (const auto line = intruders_.note(why)) spdlog::warn("{}", *line);
    send_refusal(fd, why);
    return accept();
  }
  peer_pid_ = peer.pid;
  peer_.emplace(std::move(socket));
  patience_.expires_after(kPatience);
  patience_.async_wait([this](const asio::error_code& error) {
    if (!error && peer_) peer_->cancel();
  });
  asio::async_read_until(
      *peer_, request_, '\n', [this](const asio::error_code& error, std::size_t length) {
        if (error) return end_hearing();
        on_request({static_cast<const char*>(request_.data().data()), length - 1});
      });
}

std::optional<std::string> SuccessionListener::reason_to_refuse(std::string_view text) {
  const auto request = SuccessionRequest::decode(text);
  if (!request) return "the request is not of this version";
  try {
    return handler_.refuse_successor(*request);
  } catch (const Error& error) {
    return error.what();
  }
}

void SuccessionListener::on_request(std::string_view text) {
  patience_.cancel();
  const auto refusal = reason_to_refuse(text);
  const int fd = peer_->native_handle();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  if (refusal) {
    spdlog::warn("process {} would succeed this target, and is refused: {}", peer_pid_, *refusal);
    send_refusal(fd, *refusal);
    return end_hearing();
  }
  if (send_line(fd, R"({"accepted":true})") != 0) return end_hearing();
  UniqueFd socket(peer_->release());
  peer_.reset();
  acceptor_.close();
  handler_.on_successor(Successor(std::move(socket), peer_pid_));
}

void SuccessionListener::end_hearing() {
  patience_.cancel();
  peer_.reset();
  request_.consume(request_.size());
  accept();
}

}  // namespace rdmablk::target
