#include "common/cm/tcp/reach_guard.h"

#include <gtest/gtest.h>

namespace rdmablk::cm::tcp {
namespace {

using namespace std::chrono_literals;

GidBytes peer(int number) {
  GidBytes gid{};
  gid.back() = static_cast<std::byte>(number);
  return gid;
}

TEST(ReachGuardTest, AllowsAnybodyAtFirst) {
  const ReachGuard guard;
  EXPECT_TRUE(guard.allows(peer(1), std::nullopt));
}

TEST(ReachGuardTest, HasStrangersWaitAfterALookInVain) {
  ReachGuard guard;
  const auto now = ReachGuard::Clock::now();
  guard.note(peer(1), 1s, false, now);
  EXPECT_FALSE(guard.allows(peer(1), std::nullopt, now + 19s));
  EXPECT_FALSE(guard.allows(peer(2), peer(3), now + 19s));
  EXPECT_TRUE(guard.allows(peer(2), peer(3), now + 20s));
}

TEST(ReachGuardTest, LetsThoseInWhoAreWhereTheySay) {
  ReachGuard guard;
  const auto now = ReachGuard::Clock::now();
  guard.note(peer(1), 1s, false, now);
  EXPECT_TRUE(guard.allows(peer(2), peer(2), now));
}

TEST(ReachGuardTest, LetsThoseInWhoWereFound) {
  ReachGuard guard;
  const auto now = ReachGuard::Clock::now();
  guard.note(peer(2), 1ms, true, now);
  guard.note(peer(1), 1s, false, now);
  EXPECT_TRUE(guard.allows(peer(2), std::nullopt, now));
  guard.note(peer(2), 1s, false, now);
  EXPECT_FALSE(guard.allows(peer(2), std::nullopt, now)) << "it is not there any more";
}

TEST(ReachGuardTest, MindsNoShortLooks) {
  ReachGuard guard;
  const auto now = ReachGuard::Clock::now();
  guard.note(peer(1), 1ms, false, now);
  EXPECT_TRUE(guard.allows(peer(2), std::nullopt, now));
}

}  // namespace
}  // namespace rdmablk::cm::tcp
