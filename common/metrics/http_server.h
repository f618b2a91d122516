#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/uri.h"

struct mg_connection;
struct mg_context;

namespace rdmablk::metrics {

inline constexpr const char* kHtml = "text/html; charset=utf-8";
inline constexpr const char* kJson = "application/json";

/// What a page is answered with.
struct HttpResponse {
  std::string type;  ///< of the content: kJson
  std::string body;
  int status = 200;
};

/// Pages that anybody who reaches the port may read, and nobody can change anything by. A few
/// threads of its own serve them, as many connections at a time, and more wait; one that says
/// nothing is ended.
class HttpServer {
 public:
  /// Makes a page, on any of the server's threads. May throw Error: the answer is 503 then.
  using Page = std::function<HttpResponse()>;

  /// Listens. Throws Error.
  /// @param address IPv4; port 0: any that is free.
  /// @param pages by their path: "/metrics". What they use outlives the server.
  HttpServer(const HostPort& address, std::map<std::string, Page> pages);

  /// Waits for the pages that are being made.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Where it listens.
  const HostPort& address() const noexcept { return address_; }

 private:
  static int on_request(mg_connection* connection);
  static int on_log(const mg_connection* connection, const char* text);
  HttpResponse answer(const char* method, const char* path) const;

  HostPort address_;
  std::map<std::string, Page> pages_;
  std::thread::id starter_ = std::this_thread::get_id();
  std::string complaint_;  ///< of the library, on the thread that starts it
  mg_context* context_ = nullptr;
};

}  // namespace rdmablk::metrics
