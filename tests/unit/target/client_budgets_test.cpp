#include "target/client_budgets.h"

#include <gtest/gtest.h>

#include "target/session_peer.h"

namespace rdmablk::target {
namespace {

TEST(ClientBudgetsTest, GivesEachClientItsOwn) {
  ClientBudgets budgets(100);
  const auto first = budgets.of("one").take(70);
  EXPECT_TRUE(first);
  EXPECT_FALSE(budgets.of("one").take(70));
  EXPECT_TRUE(budgets.of("other").take(70));
}

TEST(ClientBudgetsTest, ForgetsThoseWhoHaveNothing) {
  ClientBudgets budgets(100);
  const auto kept = budgets.of("kept").take(1);
  for (int i = 0; i < 1000; ++i) budgets.of(std::to_string(i));
  EXPECT_LE(budgets.size(), 4U);
  EXPECT_EQ(budgets.of("kept").used(), 1U);
}

TEST(SessionPeerTest, CountsByNameOrAddress) {
  const SessionPeer stranger{"10.0.0.2:4711", {}, {}};
  const SessionPeer again{"10.0.0.2:815", {}, {}};
  const SessionPeer other{"[fe80::1]:815", {}, {}};
  const SessionPeer named{"10.0.0.2:815", "backup", {}};
  EXPECT_EQ(stranger.account(), again.account());
  EXPECT_NE(stranger.account(), other.account());
  EXPECT_EQ(named.account(), "backup");
  EXPECT_EQ(named.text(), "backup (10.0.0.2:815)");
  EXPECT_EQ(stranger.text(), "10.0.0.2:4711");
}

TEST(SessionPeerTest, IsResumedByTheSameInstanceOfTheSameClient) {
  const protocol::InstanceId one{std::byte{1}};
  const protocol::InstanceId other{std::byte{2}};
  const SessionPeer peer{"a:1", "backup", one};
  EXPECT_TRUE(peer.is_resumed_by({"b:2", "backup", one}));
  EXPECT_FALSE(peer.is_resumed_by({"a:1", "backup", other}));
  EXPECT_FALSE(peer.is_resumed_by({"a:1", "mallory", one}));
  EXPECT_FALSE(SessionPeer{}.is_resumed_by({}));
}

}  // namespace
}  // namespace rdmablk::target
