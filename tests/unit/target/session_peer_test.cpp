#include "target/session_peer.h"

#include <gtest/gtest.h>

#include <vector>

namespace rdmablk::target {
namespace {

TEST(SessionPeer, SharesTheAccountOfWhoeverHasTheSame) {
  const std::vector<SessionPeer> peers{
      {"10.0.0.1:1", {}, {}},       {"10.0.0.1:2", {}, {}},       {"10.0.0.11:1", {}, {}},
      {"[fd00::1]:1", {}, {}},      {"[fd00::1]:2", {}, {}},      {"10.0.0.1:1", "backup", {}},
      {"10.0.0.2:1", "backup", {}}, {"10.0.0.1:1", "mirror", {}}, {"10.0.0.3:1", "10.0.0.1", {}},
  };
  for (const SessionPeer& one : peers) {
    for (const SessionPeer& other : peers) {
      EXPECT_EQ(one.shares_account_with(other), one.account() == other.account())
          << one.text() << ", " << other.text();
    }
  }
}

}  // namespace
}  // namespace rdmablk::target
