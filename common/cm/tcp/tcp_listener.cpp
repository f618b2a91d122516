#include "common/cm/tcp/tcp_listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/ip/v6_only.hpp>
#include <cerrno>

#include "common/cm/tcp/addresses.h"
#include "common/cm/tcp/gid.h"
#include "common/cm/tcp/place_choice.h"
#include "common/cm/tcp/tcp_connection.h"
#include "common/error.h"
#include "common/thread_log.h"
#include "common/verbs/context.h"

namespace rdmablk::cm::tcp {
namespace {

/// Connections that the kernel holds until they are taken.
constexpr int kBacklog = 1024;

/// Before the next one is taken when one could not be: descriptors may be short.
constexpr std::chrono::milliseconds kPause{100};

constexpr const char* kLookingTooOften =
    "peers were looked for in vain on the RDMA network; one that is not where its TCP connection "
    "comes from has to wait a moment";

[[noreturn]] void fail(const SocketAddress& address, int error) {
  const std::string doing = fmt::format("listen on TCP {}", address.text());
  if (error == EADDRNOTAVAIL) {
    throw Error(fmt::format(
        "cannot {}: this host does not have the address; `rdmablk devices` shows those of its RDMA "
        "devices, `ip address` all that there are",
        doing));
  }
  throw SystemError(doing, error);
}

}  // namespace

TcpListener::TcpListener(asio::io_context& io, const Devices& devices, const Settings& settings,
                         ReachGuard& guard, const SocketAddress& address, RequestHandler& handler,
                         const ListenerLimits& limits)
    : acceptor_(io),
      devices_(devices),
      settings_(settings),
      guard_(guard),
      handler_(handler),
      limits_(limits),
      device_(device_with(devices.get(), address)),
      pause_(io) {
  const auto places = find_places(devices.get(), settings);
  if (places.places.empty() && !places.may_come) {
    throw Error(fmt::format("cannot listen on TCP {}: {}", address.text(), places.others));
  }
  const auto endpoint = to_endpoint(address);
  asio::error_code error;
  const auto must = [&] {
    if (error) fail(address, error.value());
  };
  acceptor_.open(endpoint.protocol(), error);
  must();
  // One that ended a moment ago leaves connections that the kernel remembers for a while.
  acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  must();
  if (endpoint.protocol() == asio::ip::tcp::v6()) {
    acceptor_.set_option(asio::ip::v6_only(true), error);
    must();
  }
  acceptor_.bind(endpoint, error);
  must();
  acceptor_.listen(kBacklog, error);
  must();
  accept();
}

SocketAddress TcpListener::address() const {
  return to_address(acceptor_.local_endpoint());
}

void TcpListener::accept() {
  acceptor_.async_accept(
      lifetime_.guard([this](const asio::error_code& error, asio::ip::tcp::socket socket) {
        on_accepted(error, std::move(socket));
      }));
}

void TcpListener::on_accepted(const asio::error_code& error, asio::ip::tcp::socket socket) {
  if (error) {
    if (const auto line =
            log_.note(fmt::format("cannot take a TCP connection: {}", errno_text(error.value())))) {
      thread_log().error("{}", *line);
    }
    pause_.expires_after(kPause);
    return pause_.async_wait(lifetime_.guard([this](const asio::error_code& cancelled) {
      if (!cancelled) accept();
    }));
  }
  asio::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (greetings_.size() >= limits_.greetings) {
    drop(*greetings_.front(), "it has not asked for a connection yet, and others wait");
  }
  Greeting::Owner& owner = *this;
  greetings_.push_back(std::make_unique<Greeting>(std::move(socket), limits_.patience, owner));
  accept();
}

std::unique_ptr<Greeting> TcpListener::take(const Greeting& greeting) {
  const auto found = std::ranges::find(greetings_, &greeting, &std::unique_ptr<Greeting>::get);
  auto taken = std::move(*found);
  greetings_.erase(found);
  return taken;
}

void TcpListener::on_request(Greeting& greeting, const Request& request) {
  const auto taken = take(greeting);
  const SocketAddress local = to_address(taken->conversation().local());
  const SocketAddress remote = to_address(taken->conversation().remote());
  // Who listens on an address of a device serves that one.
  ibv_context* const own = device_ == nullptr ? nullptr : device_with(devices_.get(), local);
  const auto devices = own == nullptr ? devices_.get() : std::span<ibv_context* const>(&own, 1);
  const auto choice = choose_place(find_places(devices, settings_), settings_,
                                   {.local = &local, .remote = &remote, .peer = &request.from});
  if (!choice.place) return refuse(*taken, choice.why);
  if (!guard_.allows(request.from.gid, gid_of(remote))) {
    return refuse(*taken, kLookingTooOften);
  }
  handler_.on_request(std::make_unique<TcpConnection>(taken->take_conversation(), settings_, guard_,
                                                      request, *choice.place),
                      request.private_data);
}

void TcpListener::refuse(Greeting& greeting, const std::string& why) {
  greeting.refuse(why);
  if (const auto line = log_.note(fmt::format("refused {}: {}", greeting.peer(), why))) {
    thread_log().warn("{}", *line);
  }
}

void TcpListener::on_nothing(Greeting& greeting, const std::string& why) {
  drop(greeting, why);
}

/// @param why empty: nothing of note.
void TcpListener::drop(const Greeting& greeting, const std::string& why) {
  const auto taken = take(greeting);
  if (why.empty()) return;
  if (const auto line = log_.note(fmt::format("dropped {}: {}", taken->peer(), why))) {
    thread_log().warn("{}", *line);
  }
}

}  // namespace rdmablk::cm::tcp
