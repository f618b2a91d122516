#include "common/metrics/http_server.h"

#include <gmock/gmock.h>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <string>

#include "common/error.h"

namespace rdmablk::metrics {
namespace {

using asio::ip::tcp;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
 protected:
  tcp::socket connect() {
    tcp::socket socket(io_);
    socket.connect({asio::ip::make_address("127.0.0.1"), server_.address().port});
    return socket;
  }

  /// Sends a text. @return all that comes back.
  std::string exchange(const std::string& request) {
    tcp::socket socket = connect();
    asio::write(socket, asio::buffer(request));
    std::string reply;
    asio::error_code end;
    asio::read(socket, asio::dynamic_buffer(reply), end);
    return reply;
  }

  std::string get(const std::string& path) {
    return exchange("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  }

  asio::io_context io_;
  HttpServer server_{{"127.0.0.1", 0},
                     {{"/one",
                       [] {
                         return HttpResponse{kJson, "{}"};
                       }},
                      {"/none", []() -> HttpResponse { throw Error("not now"); }}}};
};

TEST_F(HttpServerTest, ServesItsPages) {
  const std::string reply = get("/one");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(reply, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(reply, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\n{}"));
}

TEST_F(HttpServerTest, ServesNothingElse) {
  EXPECT_THAT(get("/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(get("/one/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(get("/../../etc/passwd"), StartsWith("HTTP/1.1 4"));
  EXPECT_THAT(get("/%2e%2e/etc/passwd"), StartsWith("HTTP/1.1 4"));
}

TEST_F(HttpServerTest, SaysThatItsAddressIsTaken) {
  try {
    HttpServer another(server_.address(), {});
    ADD_FAILURE() << "two servers listen at one address";
  } catch (const Error& error) {
    const std::string port = std::to_string(server_.address().port);
    EXPECT_EQ(error.what(),
              "cannot listen on 127.0.0.1:" + port +
                  " for --metrics: Address already in use: another program listens there (`ss "
                  "-ltnp sport = :" +
                  port + "` shows it); choose another port");
  }
}

TEST_F(HttpServerTest, SaysThatTheAddressIsOfAnotherHost) {
  try {
    HttpServer another({"192.0.2.1", 9464}, {});
    ADD_FAILURE() << "it listens at an address of another host";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("cannot listen on 192.0.2.1:9464 for --metrics: "));
    EXPECT_THAT(error.what(), HasSubstr("this host has no such address"));
  }
}

TEST_F(HttpServerTest, ChangesNothing) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    const std::string request =
        std::string(method) + " /one HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    EXPECT_THAT(exchange(request), StartsWith("HTTP/1.1 405 ")) << method;
  }
}

TEST_F(HttpServerTest, AnswersHeadWithoutTheBody) {
  const std::string reply = exchange("HEAD /one HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(reply, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(reply, EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, TellsWhyAPageCannotBeMade) {
  const std::string reply = get("/none");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(reply, EndsWith("not now\n"));
}

TEST_F(HttpServerTest, IsNotHeldUpByThoseWhoSayNothing) {
  const tcp::socket silent = connect();
  EXPECT_THAT(get("/one"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, TakesNonsense) {
  EXPECT_THAT(exchange("nonsense\r\n\r\n"), HasSubstr(" 400 "));
}

TEST_F(HttpServerTest, SaysThatAnAddressIsTaken) {
  try {
    const HttpServer other(server_.address(), {});
    FAIL() << "two listen on " << server_.address().text();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(server_.address().text()));
  }
}

TEST(HttpServer, ListensOnIpv4) {
  EXPECT_THROW(HttpServer({"::1", 0}, {}), UsageError);
}

}  // namespace
}  // namespace rdmablk::metrics
