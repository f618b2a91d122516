#include "common/metrics/http_server.h"

#include <arpa/inet.h>
#include <civetweb.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/metrics/metrics_address.h"
#include "common/signals.h"
#include "common/unique_fd.h"

namespace rdmablk::metrics {
namespace {

/// Connections that are served at a time, those that wait for a thread, and those that wait to be
/// accepted.
constexpr const char* kThreads = "3";
constexpr const char* kQueue = "8";
constexpr const char* kBacklog = "16";

/// How long a peer may take, in milliseconds.
constexpr const char* kPatience = "3000";

constexpr std::chrono::milliseconds kNudge{5};

/// The page needs nothing from elsewhere, and is no part of another page.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

constexpr const char* kText = "text/plain; charset=utf-8";

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Service Unavailable";
  }
}

/// Comes, and goes.
void nudge(const HostPort& address) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  ::inet_pton(AF_INET, address.host.c_str(), &to.sin_addr);
  ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

void name_thread() {
  ::pthread_setname_np(::pthread_self(), "http");
}

}  // namespace

HttpServer::HttpServer(const HostPort& address, std::map<std::string, Page> pages)
    : address_(ipv4_of(address)), pages_(std::move(pages)) {
  // The library does not tell why it cannot.
  if (const int error = try_address(address_); error != 0) {
    throw Error(describe_refusal(address_, error));
  }
  mg_callbacks callbacks{};
  callbacks.begin_request = on_request;
  callbacks.log_message = on_log;
  callbacks.init_thread = [](const mg_context* /*context*/, int /*type*/) -> void* {
    name_thread();
    return nullptr;
  };
  const std::string where = address_.text();
  std::array<const char*, 15> options{
      "listening_ports",    where.c_str(), "num_threads",    kThreads,
      "connection_queue",   kQueue,        "listen_backlog", kBacklog,
      "request_timeout_ms", kPatience,     "tcp_nodelay",    "1",
      "enable_keep_alive",  "no",          nullptr};
  const SignalsBlocked blocked;  // they are for the thread that controls
  context_ = mg_start(&callbacks, this, options.data());
  if (context_ == nullptr) {
    throw Error(fmt::format("cannot listen on {} for --metrics{}{}", where,
                            complaint_.empty() ? "" : ": ", complaint_));
  }
  mg_server_port port{};
  if (mg_get_server_ports(context_, 1, &port) == 1) {
    address_.port = static_cast<std::uint16_t>(port.port);
  }
}

/// The thread that accepts connections looks every two seconds whether it is to end, or when
/// somebody comes.
HttpServer::~HttpServer() {
  const auto stopped = std::async(std::launch::async, [this] { mg_stop(context_); });
  while (stopped.wait_for(kNudge) != std::future_status::ready) nudge(address_);
}

/// What the library has to say of strangers is of no interest; why it does not start is.
int HttpServer::on_log(const mg_connection* connection, const char* text) {
  auto* const self = static_cast<HttpServer*>(mg_get_user_data(mg_get_context(connection)));
  if (self != nullptr && self->starter_ == std::this_thread::get_id()) self->complaint_ = text;
  spdlog::debug("the server of --metrics: {}", text);
  return 1;
}

HttpResponse HttpServer::answer(const char* method, const char* path) const {
  const std::string_view verb = method;
  if (verb != "GET" && verb != "HEAD") return {kText, "only GET and HEAD\n", 405};
  const auto page = pages_.find(path);
  if (page == pages_.end()) return {kText, "there is no such page\n", 404};
  try {
    return page->second();
  } catch (const std::exception& error) {
    return {kText, fmt::format("{}\n", error.what()), 503};
  }
}

int HttpServer::on_request(mg_connection* connection) {
  const mg_request_info& request = *mg_get_request_info(connection);
  const auto& self = *static_cast<const HttpServer*>(request.user_data);
  const HttpResponse response = self.answer(request.request_method, request.local_uri);
  const std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: {}\r\nConnection: close\r\n\r\n",
      response.status, reason_of(response.status), response.type, response.body.size(), kPolicy);
  mg_write(connection, head.data(), head.size());
  if (std::string_view(request.request_method) != "HEAD") {
    mg_write(connection, response.body.data(), response.body.size());
  }
  return response.status;
}

}  // namespace rdmablk::metrics
