// Who comes to a TCP listener without being one who connects, and whom one meets who is no target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>

#include "common/cm/devices.h"
#include "common/cm/tcp/addresses.h"
#include "common/cm/tcp/exchange.h"
#include "common/cm/tcp/tcp_listener.h"
#include "common/error.h"
#include "common/verbs/context.h"
#include "tests/integration/cm/cm_world.h"

namespace rdmablk::testing {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using cm::EventType;
using ::testing::HasSubstr;

/// A listener with little patience, and sockets that come to it.
class TcpStrangers : public ::testing::Test, public cm::RequestHandler {
 protected:
  void SetUp() override {
    if (verbs::is_iwarp(devices_->get().front())) GTEST_SKIP() << "iWARP connects by rdma_cm alone";
    listen({.greetings = 3, .patience = 200ms});
  }

  void listen(const cm::tcp::ListenerLimits& limits) {
    listener_.emplace(io_, *devices_, settings_, guard_, test_address(), *this, limits);
  }

  tcp::socket visit() {
    tcp::socket socket(io_);
    socket.connect(cm::tcp::to_endpoint(listener_->address()));
    return socket;
  }

  void run_until(const std::function<bool()>& done) {
    io_.restart();
    while (!done()) {
      if (io_.run_one_for(20s) == 0) throw Error("what was waited for did not happen");
    }
  }

  /// Waits until the listener has dropped it. @return what it was sent.
  std::vector<std::byte> wait_for_end(tcp::socket& socket) {
    std::vector<std::byte> got(1024);
    std::size_t size = 0;
    bool ended = false;
    asio::async_read(socket, asio::buffer(got),
                     [&](const asio::error_code& /*error*/, std::size_t n) {
                       size = n;
                       ended = true;
                     });
    run_until([&] { return ended; });
    got.resize(size);
    return got;
  }

  static void say(tcp::socket& socket, std::span<const std::byte> bytes) {
    asio::write(socket, asio::buffer(bytes.data(), bytes.size()));
  }

  cm::tcp::Request good_request() const {
    cm::tcp::Request request;
    request.from.queue_pair = 17;
    request.from.link_layer = IBV_LINK_LAYER_ETHERNET;
    request.from.gid_type = IBV_GID_TYPE_ROCE_V2;
    ibv_gid gid{};
    ibv_query_gid(devices_->get().front(), 1, 0, &gid);
    request.from.gid = std::bit_cast<std::array<std::byte, 16>>(gid);
    request.private_data = some_bytes(56);
    return request;
  }

  void on_request(std::unique_ptr<cm::Connection> connection,
                  std::span<const std::byte> /*private_data*/) override {
    ++count_;
    if (!destroys_) requests_.push_back(std::move(connection));
  }

  asio::io_context io_{1};
  std::unique_ptr<cm::Devices> devices_ = cm::open_verbs_devices();
  cm::Settings settings_;
  cm::tcp::ReachGuard guard_;
  std::optional<cm::tcp::TcpListener> listener_;
  std::vector<std::unique_ptr<cm::Connection>> requests_;
  unsigned count_ = 0;
  bool destroys_ = false;  ///< each at once
};

TEST_F(TcpStrangers, DropsWhoTalksNonsense) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{1000}}) {
    auto socket = visit();
    say(socket, std::vector<std::byte>(size, std::byte{'x'}));
    EXPECT_THAT(wait_for_end(socket), ::testing::IsEmpty());
  }
  EXPECT_TRUE(requests_.empty());
}

TEST_F(TcpStrangers, DropsWhoSaysNothing) {
  auto socket = visit();
  EXPECT_THAT(wait_for_end(socket), ::testing::IsEmpty());
}

TEST_F(TcpStrangers, DropsWhoStopsInTheMiddle) {
  const auto whole = encode(good_request());
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{7}, std::size_t{8}, whole.size() - 1}) {
    auto socket = visit();
    say(socket, std::span(whole).first(size));
    EXPECT_THAT(wait_for_end(socket), ::testing::IsEmpty());
  }
  EXPECT_TRUE(requests_.empty());
}

TEST_F(TcpStrangers, DropsWhoClosesAtOnce) {
  visit().close();
  auto socket = visit();
  say(socket, encode(good_request()));
  run_until([&] { return !requests_.empty(); });
}

TEST_F(TcpStrangers, TellsAnotherVersion) {
  auto socket = visit();
  auto request = encode(good_request());
  request[4] = std::byte{9};
  say(socket, request);
  const auto answer = wait_for_end(socket);
  ASSERT_GT(answer.size(), cm::tcp::Header::kSize);
  const auto reject = cm::tcp::decode_reject(std::span(answer).subspan(cm::tcp::Header::kSize));
  ASSERT_TRUE(reject);
  EXPECT_EQ(reject->by, cm::tcp::Reject::By::connection);
  EXPECT_THAT(reject->text(), HasSubstr("version 1"));
}

TEST_F(TcpStrangers, DropsImpossibleRequests) {
  auto request = good_request();
  request.from.mtu = 9;
  auto socket = visit();
  say(socket, encode(request));
  EXPECT_THAT(wait_for_end(socket), ::testing::IsEmpty());
  auto other = visit();
  say(other, encode(cm::tcp::Ready{}));
  EXPECT_THAT(wait_for_end(other), ::testing::IsEmpty());
  EXPECT_TRUE(requests_.empty());
}

TEST_F(TcpStrangers, TellsWhoIsOfAnotherNetwork) {
  auto request = good_request();
  request.from.link_layer = IBV_LINK_LAYER_INFINIBAND;
  request.from.gid_type = IBV_GID_TYPE_IB;
  auto socket = visit();
  say(socket, encode(request));
  const auto answer = wait_for_end(socket);
  ASSERT_GT(answer.size(), cm::tcp::Header::kSize);
  const auto reject = cm::tcp::decode_reject(std::span(answer).subspan(cm::tcp::Header::kSize));
  ASSERT_TRUE(reject);
  EXPECT_THAT(reject->text(), HasSubstr("the other end for InfiniBand"));
}

TEST_F(TcpStrangers, LetsTheOldestGiveWay) {
  listener_.reset();
  listen({.greetings = 3, .patience = 1h});
  std::vector<tcp::socket> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(visit());
  auto socket = visit();
  say(socket, encode(good_request()));
  run_until([&] { return !requests_.empty(); });
  EXPECT_THAT(wait_for_end(silent.front()), ::testing::IsEmpty());
}

TEST_F(TcpStrangers, SurvivesWhatComesBehindARequest) {
  destroys_ = true;
  auto request = encode(good_request());
  for (const char c : {'R', 'B', 'C'}) request.push_back(static_cast<std::byte>(c));
  constexpr unsigned kMany = 300;
  for (unsigned i = 1; i <= kMany; ++i) {
    auto socket = visit();
    say(socket, request);
    socket.close();
    run_until([&] { return count_ == i; });
    io_.poll();
  }
}

TEST_F(TcpStrangers, ListensForNothingThatCannotBe) {
  settings_.gid_index = 200;
  listener_.reset();
  EXPECT_THROW(listen({}), Error);
  settings_.gid_index.reset();
  settings_.pkey_index = 99;
  EXPECT_THROW(listen({}), Error);
}

TEST_F(TcpStrangers, NoticesWhoGivesUpBeforeTheAnswer) {
  auto socket = visit();
  say(socket, encode(good_request()));
  run_until([&] { return !requests_.empty(); });
  socket.close();
  io_.restart();
  End end;
  end.prepare(requests_.front()->device());
  bool is_gone = false;
  run_until([&] {
    try {
      requests_.front()->create_queue_pair(*end.pd, *end.cq, {});
      requests_.front()->destroy_queue_pair();
      asio::post(io_, [] {});
    } catch (const Error&) {
      is_gone = true;
    }
    return is_gone;
  });
}

/// Something that listens, takes one connection, and answers what it is told to answer.
class Impostor {
 public:
  Impostor(asio::io_context& io, std::vector<std::byte> answer)
      : acceptor_(io, cm::tcp::to_endpoint(test_address())), answer_(std::move(answer)) {
    acceptor_.async_accept([this](const asio::error_code& error, tcp::socket socket) {
      if (error) return;
      socket_.emplace(std::move(socket));
      asio::write(*socket_, asio::buffer(answer_));
    });
  }

  SocketAddress address() const { return cm::tcp::to_address(acceptor_.local_endpoint()); }

 private:
  tcp::acceptor acceptor_;
  std::vector<std::byte> answer_;
  std::optional<tcp::socket> socket_;
};

class TcpImpostor : public ::testing::Test {
 protected:
  void SetUp() override {
    if (verbs::is_iwarp(cm::open_verbs_devices()->get().front())) {
      GTEST_SKIP() << "iWARP connects by rdma_cm alone";
    }
    manager_ = cm::make_manager(cm::Method::tcp, io_);
  }

  /// @return what the connecting end was told last.
  Seen meet(std::vector<std::byte> answer) {
    const Impostor impostor(io_, std::move(answer));
    Peer peer(*manager_, impostor.address(), some_bytes(56));
    io_.restart();
    while (peer.seen.size() < 2) {
      if (io_.run_one_for(20s) == 0) throw Error("what was waited for did not happen");
    }
    return peer.seen.back();
  }

  asio::io_context io_{1};
  std::unique_ptr<cm::ConnectionManager> manager_;
};

TEST_F(TcpImpostor, IsNoTargetWhenItTalksNonsense) {
  const Seen seen = meet(some_bytes(100));
  EXPECT_EQ(seen.type, EventType::failed);
  EXPECT_THAT(seen.why, HasSubstr("no rdmablk-target with --cm tcp"));
}

TEST_F(TcpImpostor, IsNoTargetWhenItAnswersOutOfTurn) {
  EXPECT_EQ(meet(encode(cm::tcp::Ready{})).type, EventType::failed);
  EXPECT_EQ(meet(encode(cm::tcp::Request{})).type, EventType::failed);
}

TEST_F(TcpImpostor, DoesNotFitWhenItIsOfAnotherNetwork) {
  cm::tcp::Accept accept;
  accept.from.link_layer = IBV_LINK_LAYER_INFINIBAND;
  const Seen seen = meet(encode(accept));
  EXPECT_EQ(seen.type, EventType::failed);
  EXPECT_THAT(seen.why, HasSubstr("do not fit"));
}

TEST_F(TcpImpostor, CannotMakeItsWordsActOnTheTerminal) {
  std::vector<std::byte> evil;
  for (const char c : std::string("a\x1b[2Jb\n")) evil.push_back(static_cast<std::byte>(c));
  const Seen seen = meet(encode(cm::tcp::Reject{cm::tcp::Reject::By::connection, evil}));
  EXPECT_EQ(seen.type, EventType::rejected);
  EXPECT_EQ(seen.why, "a?[2Jb?");
}

}  // namespace
}  // namespace rdmablk::testing
