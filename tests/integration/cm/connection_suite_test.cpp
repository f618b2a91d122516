// What every way to connect has to do: common/cm/connection.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/post.hpp>
#include <optional>

#include "common/error.h"
#include "common/verbs/context.h"
#include "common/verbs/memory_region.h"
#include "tests/integration/cm/cm_world.h"

namespace rdmablk::testing {
namespace {

using cm::EventType;
using cm::Method;
using cm::Refusal;

class ConnectionSuite : public ::testing::TestWithParam<Method> {
 protected:
  void SetUp() override {
    try {
      world_.emplace(GetParam());
    } catch (const Error& error) {
      // The one thing that is not for every device; all else is a failure.
      if (std::string(error.what()).find("iWARP") == std::string::npos) throw;
      GTEST_SKIP() << error.what();
    }
  }

  CmWorld& world() { return *world_; }

  /// Both ends know of it: an end that is told to disconnect before has no word to say.
  CmWorld::Pair connect_pair() {
    const auto pair = world().connect_pair();
    world().run_until([&] { return pair.accepting.is_established() || is_iwarp(pair.accepting); });
    return pair;
  }

  static bool is_iwarp(const Peer& peer) { return verbs::is_iwarp(peer.end.connection->device()); }

  std::optional<CmWorld> world_;
};

INSTANTIATE_TEST_SUITE_P(Ways, ConnectionSuite, ::testing::Values(Method::rdmacm, Method::tcp),
                         [](const auto& suite) {
                           return suite.param == Method::rdmacm ? "rdmacm" : "tcp";
                         });

/// A region that the peer may READ.
struct Lent {
  explicit Lent(Peer& peer, std::byte value)
      : bytes(4096, value),
        region(*peer.end.pd, bytes,
               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE) {}
  std::vector<std::byte> bytes;
  verbs::MemoryRegion region;
};

ibv_wc wait(CmWorld& world, Peer& peer) {
  ibv_wc completion{};
  world.run_until([&] {
    // Nobody watches its completions: asked in turn.
    const bool is_there = peer.end.cq->poll({&completion, 1}) > 0;
    if (!is_there) asio::post(world.io(), [] {});
    return is_there;
  });
  return completion;
}

TEST_P(ConnectionSuite, ConnectsAndCarriesData) {
  auto [connecting, accepting] = world().connect_pair();
  Lent remote(accepting, std::byte{0x5a});
  Lent local(connecting, std::byte{});
  Work read(IBV_WR_RDMA_READ, local.bytes.data(), local.bytes.size(), local.region.lkey(),
            reinterpret_cast<std::uintptr_t>(remote.bytes.data()), remote.region.rkey());
  ASSERT_EQ(read.post(connecting.end), 0);
  EXPECT_EQ(wait(world(), connecting).status, IBV_WC_SUCCESS);
  EXPECT_EQ(local.bytes, remote.bytes);
  EXPECT_EQ(connecting.seen.front().type, EventType::resolved);
  world().run_until([&accepting = accepting] { return accepting.is_established(); });
}

TEST_P(ConnectionSuite, TellsWhoThePeerIs) {
  const auto [connecting, accepting] = world().connect_pair();
  EXPECT_EQ(connecting.end.connection->peer(), world().address().text());
  const std::string text = accepting.end.connection->peer();
  EXPECT_EQ(text.substr(0, text.rfind(':')),
            world().address().text().substr(0, world().address().text().rfind(':')));
}

TEST_P(ConnectionSuite, CarriesPrivateDataOfEverySize) {
  for (std::size_t size = 0; size <= cm::kMaxPrivateData; ++size) {
    const auto data = some_bytes(size);
    const auto [connecting, accepting] = world().connect_pair(data);
    const auto& got = accepting.private_data;
    ASSERT_GE(got.size(), size);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), got.begin())) << size;
    EXPECT_TRUE(std::all_of(got.begin() + static_cast<std::ptrdiff_t>(size), got.end(),
                            [](std::byte b) { return b == std::byte{}; }))
        << size;
  }
}

TEST_P(ConnectionSuite, CarriesReasonsOfEverySize) {
  for (std::size_t size = 1; size <= cm::kMaxRejectData; ++size) {
    const auto reason = some_bytes(size);
    world().on_request_do([&](Peer& peer) { peer.end.connection->reject(reason); });
    Peer& connecting = world().connect();
    world().run_until([&] { return connecting.has_seen(EventType::rejected); });
    const Seen& seen = connecting.seen.back();
    EXPECT_EQ(seen.refusal, Refusal::by_peer) << size;
    ASSERT_GE(seen.data.size(), size);
    EXPECT_TRUE(std::equal(reason.begin(), reason.end(), seen.data.begin())) << size;
    EXPECT_FALSE(connecting.is_established());
  }
}

TEST_P(ConnectionSuite, RefusesWithoutAWord) {
  world().on_request_do([&](Peer& /*peer*/) { world().requests().clear(); });
  Peer& connecting = world().connect();
  world().run_until([&] { return connecting.has_seen(EventType::rejected); });
  EXPECT_FALSE(connecting.is_established());
}

TEST_P(ConnectionSuite, TellsThatNobodyListens) {
  const SocketAddress nobody = world().address();
  world().close_listener();
  Peer* peer = nullptr;
  std::unique_ptr<Peer> connecting;
  try {
    connecting = std::make_unique<Peer>(world().manager(), nobody, some_bytes(4));
    peer = connecting.get();
    world().run_until([&] { return peer->has_seen(EventType::rejected); });
    EXPECT_EQ(peer->seen.back().refusal, Refusal::no_listener);
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error(), ECONNREFUSED);  // soft-iWARP says so at once
  }
}

TEST_P(ConnectionSuite, WaitsForAnAnswerUntilItIsGivenUp) {
  world().on_request_do([](Peer& /*peer*/) {});
  auto connecting = std::make_unique<Peer>(world().manager(), world().address(), some_bytes(4));
  world().run_until([&] { return !world().requests().empty(); });
  EXPECT_EQ(connecting->seen.size(), 1U) << "nothing but `resolved`";
  connecting.reset();
  // The request is void, whenever this end finds that out: nothing else happens to it.
  try {
    world().requests().front()->accept();
    world().run_until([&] {
      const Peer& late = *world().requests().front();
      return late.has_seen(EventType::failed) || late.has_seen(EventType::rejected) ||
             late.has_seen(EventType::disconnected);
    });
  } catch (const Error&) {
  }
  // And the next one comes through.
  const auto [next, accepting] = world().connect_pair(some_bytes(4));
  EXPECT_TRUE(next.is_established());
}

TEST_P(ConnectionSuite, TellsBothEndsOfTheEnd) {
  const auto [connecting, accepting] = connect_pair();
  connecting.end.connection->disconnect();
  const auto both = [&connecting = connecting, &accepting = accepting] {
    return connecting.has_seen(EventType::disconnected) &&
           accepting.has_seen(EventType::disconnected);
  };
  world().run_until(both);
  connecting.end.connection->disconnect();  // does nothing
  EXPECT_EQ(connecting.count(EventType::disconnected), 1);
  EXPECT_EQ(accepting.count(EventType::disconnected), 1);
}

TEST_P(ConnectionSuite, TellsOfTheEndByTheOtherEnd) {
  const auto [connecting, accepting] = connect_pair();
  accepting.end.connection->disconnect();
  world().run_until([&c = connecting] { return c.has_seen(EventType::disconnected); });
}

TEST_P(ConnectionSuite, TellsOfAnEndThatWasDestroyed) {
  const auto [connecting, accepting] = connect_pair();
  world().requests().clear();
  world().run_until([&c = connecting] { return c.has_seen(EventType::disconnected); });
}

TEST_P(ConnectionSuite, TakesSimultaneousEnds) {
  const auto [connecting, accepting] = connect_pair();
  connecting.end.connection->disconnect();
  accepting.end.connection->disconnect();
  world().run_until([&c = connecting, &a = accepting] {
    return c.has_seen(EventType::disconnected) && a.has_seen(EventType::disconnected);
  });
  EXPECT_EQ(connecting.count(EventType::disconnected), 1);
  EXPECT_EQ(accepting.count(EventType::disconnected), 1);
}

TEST_P(ConnectionSuite, TellsThingsInTheirOrder) {
  const auto [connecting, accepting] = connect_pair();
  connecting.end.connection->disconnect();
  world().run_until([&c = connecting, &a = accepting] {
    return c.has_seen(EventType::disconnected) && a.has_seen(EventType::disconnected);
  });
  const auto types = [](const Peer& peer) {
    std::vector<EventType> result;
    for (const Seen& seen : peer.seen) result.push_back(seen.type);
    return result;
  };
  EXPECT_THAT(types(connecting), ::testing::ElementsAre(EventType::resolved, EventType::established,
                                                        EventType::disconnected));
  if (is_iwarp(accepting)) return;  // which learns of `established` from what is sent
  EXPECT_THAT(types(accepting),
              ::testing::ElementsAre(EventType::established, EventType::disconnected));
}

TEST_P(ConnectionSuite, CompletesWhatIsOutstandingInError) {
  auto [connecting, accepting] = connect_pair();
  Lent buffer(connecting, std::byte{});
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.bytes.data()), 64, buffer.region.lkey()};
  ibv_recv_wr receive{};
  receive.sg_list = &segment;
  receive.num_sge = 1;
  ASSERT_EQ(connecting.end.qp().post_receive(receive), 0);
  accepting.end.connection->disconnect();
  EXPECT_EQ(wait(world(), connecting).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_P(ConnectionSuite, MayBeDestroyedByWhoIsTold) {
  const auto [connecting, accepting] = world().connect_pair();
  class Destroyer final : public cm::EventHandler {
   public:
    explicit Destroyer(CmWorld& world) : connection(world.manager().open(world.address(), *this)) {}
    std::unique_ptr<cm::Connection> connection;
    bool told = false;

   private:
    void on_event(cm::Connection& /*connection*/, const cm::Event& /*event*/) override {
      told = true;
      connection.reset();
    }
  };
  Destroyer destroyer(world());
  world().run_until([&] { return destroyer.told; });
  EXPECT_FALSE(destroyer.connection);
}

TEST_P(ConnectionSuite, MakesManyAtOnce) {
  constexpr std::size_t kMany = 200;
  world().on_request_do([](Peer& peer) { peer.accept(); });
  std::vector<Peer*> connecting;
  for (std::size_t i = 0; i < kMany; ++i)
    connecting.push_back(&world().connect(some_bytes(i % 57)));
  world().run_until([&] {
    return std::ranges::all_of(connecting, [](const Peer* peer) { return peer->seen.size() > 1; });
  });
  for (const Peer* const peer : connecting) {
    EXPECT_TRUE(peer->is_established()) << peer->seen.back().error << " " << peer->seen.back().why;
  }
  EXPECT_EQ(world().requests().size(), kMany);
}

}  // namespace
}  // namespace rdmablk::testing
