#include "initiator/cli/admin_client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/error.h"
#include "common/seconds.h"

namespace rdmablk::cli {
namespace {

/// The longest reply, in bytes: thousands of sessions.
constexpr std::size_t kMaxReply = std::size_t{64} << 20;

constexpr const char* kIsItThere =
    "is a target running on this machine (`systemctl status rdmablk-target`), and is this its "
    "--admin-socket? --socket names another";

std::string remedy(int error) {
  if (error == ENOENT || error == ECONNREFUSED) {
    return fmt::format("{}: {}", error == ENOENT ? "there is no such socket" : "nobody listens",
                       kIsItThere);
  }
  if (error == EACCES || error == EPERM) {
    return "permission denied: it takes root, the target's user, or a member of the group that its "
           "--admin-group names";
  }
  if (error == EAGAIN) return "too many others ask it at this time";
  return errno_text(error);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw UsageError(fmt::format("--socket is longer than the {} bytes that a socket's path has",
                                 sizeof address.sun_path - 1));
  }
  path.copy(address.sun_path, sizeof address.sun_path);
  return address;
}

}  // namespace

AdminClient::AdminClient(std::string path, std::string doing, std::chrono::milliseconds timeout)
    : path_(std::move(path)),
      doing_(std::move(doing)),
      timeout_(timeout),
      end_(std::chrono::steady_clock::now() + timeout),
      socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  const sockaddr_un address = address_of(path_);
  if (!socket_) throw SystemError("make a Unix socket", errno);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket_.get(), name, sizeof address) != 0) fail(remedy(errno));
}

void AdminClient::fail(const std::string& why) const {
  throw Error(fmt::format("cannot {}: asking the target at '{}': {}", doing_, path_, why));
}

void AdminClient::await(short events) const {
  pollfd source{socket_.get(), events, 0};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
    const int ready = left.count() <= 0 ? 0 : ::poll(&source, 1, static_cast<int>(left.count()));
    if (ready > 0) return;
    if (ready == 0) {
      fail(fmt::format("it did not answer within {:g} s (--timeout); what it has begun goes on",
                       in_seconds(timeout_)));
    }
    if (errno != EINTR) fail(errno_text(errno));
  }
}

void AdminClient::send(const std::string& text) const {
  for (std::string_view left = text; !left.empty();) {
    await(POLLOUT);
    const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    // It may have said why before it closed the connection.
    if (sent < 0 && errno == EPIPE) return;
    if (sent < 0) fail(errno_text(errno));
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string AdminClient::receive() const {
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() <= kMaxReply) {
    await(POLLIN);
    const ssize_t got = ::read(socket_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got < 0) fail(errno_text(errno));
    if (got == 0) fail("it ended, or closed the connection, before it answered");
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (const auto end = text.find('\n'); end != std::string::npos) return text.substr(0, end);
  }
  fail("its answer is too long");
}

Json AdminClient::ask(Json request) {
  request["version"] = 1;
  send(request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  Json reply = Json::parse(receive(), nullptr, false);
  if (!reply.is_object()) fail("its answer is not of this protocol");
  const auto error = reply.find("error");
  if (error == reply.end()) return reply;
  const std::string why =
      fmt::format("cannot {}: {}", doing_,
                  error->is_string() ? error->get<std::string>() : "the target refuses");
  const auto usage = reply.find("usage");
  if (usage != reply.end() && *usage == true) throw UsageError(why);
  throw Error(why);
}

}  // namespace rdmablk::cli
