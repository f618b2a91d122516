#include "target/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "target/volatile_identity.h"

namespace rdmablk::target {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Waiter final : public LeaseWaiter {
 public:
  Waiter(std::vector<int>& told, int name) : told_(told), name_(name) {}
  void on_lease_free() noexcept override { told_.push_back(name_); }

 private:
  std::vector<int>& told_;
  int name_;
};

class LeaseTest : public ::testing::Test {
 protected:
  static Lease::Holder holder(std::uint64_t attachment) {
    return {attachment, {"10.0.0.2:4711", {}, {}}};
  }

  VolatileIdentity identity_;
  Lease lease_{"disk", identity_};
  std::vector<int> told_;
};

TEST_F(LeaseTest, IsHeldAsLongAsAnybodyHasIt) {
  EXPECT_FALSE(lease_.is_held());
  auto attachment = lease_.grant(holder(1));
  auto queue = attachment;
  EXPECT_EQ(lease_.holder().attachment, 1U);
  EXPECT_FALSE(lease_.is_leaving());
  attachment->leave();
  attachment.reset();
  EXPECT_TRUE(lease_.is_held());
  EXPECT_TRUE(lease_.is_leaving());
  queue.reset();
  EXPECT_FALSE(lease_.is_held());
  EXPECT_FALSE(lease_.is_leaving());
}

TEST_F(LeaseTest, GivesANewNumberEachTimeAndTheLastOneAgain) {
  const auto before = identity_.last_lease();
  auto first = lease_.grant(holder(1));
  EXPECT_EQ(first->number(), before + 1);
  first.reset();
  EXPECT_EQ(lease_.number(), before + 1) << "it may come back";
  auto again = lease_.renew(holder(2));
  EXPECT_EQ(again->number(), before + 1);
  EXPECT_EQ(lease_.holder().attachment, 2U);
  again.reset();
  EXPECT_EQ(lease_.grant(holder(3))->number(), before + 2);
}

TEST_F(LeaseTest, IsRenewedByTheClientThatHadItLast) {
  const auto peer = [](std::string client) {
    return SessionPeer{"10.0.0.2:4711", std::move(client), {}};
  };
  EXPECT_TRUE(lease_.may_renew(peer("bob"))) << "who had it is not known";
  lease_.grant({1, peer("alice")}).reset();
  EXPECT_TRUE(lease_.may_renew(peer("alice")));
  EXPECT_FALSE(lease_.may_renew(peer("bob")));
}

TEST_F(LeaseTest, TellsThoseWhoWaitInTheirOrderAndTakersFirst) {
  auto held = lease_.grant(holder(1));
  Waiter first(told_, 1);
  std::optional<Waiter> gone(std::in_place, told_, 2);
  Waiter taker(told_, 3);
  lease_.wait(first, false);
  lease_.wait(*gone, false);
  lease_.wait(taker, true);
  gone.reset();
  EXPECT_TRUE(told_.empty());
  held.reset();
  EXPECT_THAT(told_, ElementsAre(3, 1));
  lease_.grant(holder(2)).reset();
  EXPECT_THAT(told_, ElementsAre(3, 1, 3, 1)) << "they wait until they stop";
}

TEST_F(LeaseTest, SaysWhoHoldsItAndSinceWhen) {
  const auto now = Lease::Clock::now();
  auto holder_with_name = holder(1);
  holder_with_name.peer.client = "backup";
  auto held = lease_.grant(holder_with_name, now);
  EXPECT_THAT(lease_.text(now), HasSubstr("held for writing by backup (10.0.0.2:4711) since 20"));
  const auto age = [&](std::chrono::seconds later) { return lease_.text(now + later); };
  EXPECT_THAT(age(std::chrono::seconds(40)), HasSubstr("(40 s ago)"));
  EXPECT_THAT(age(std::chrono::minutes(3)), HasSubstr("(3 min ago)"));
  EXPECT_THAT(age(std::chrono::hours(7)), HasSubstr("(7 h ago)"));
  EXPECT_THAT(age(std::chrono::hours(24 * 12)), HasSubstr("(12 days ago)"));
  EXPECT_THAT(age(std::chrono::seconds(-5)), HasSubstr("(0 s ago)")) << "clocks go back";
}

TEST_F(LeaseTest, WhoComesBackHasHeldItSinceTheGrant) {
  const auto now = Lease::Clock::now();
  lease_.grant(holder(1), now).reset();
  const auto again = lease_.renew(holder(2), now + std::chrono::minutes(30));
  EXPECT_THAT(lease_.text(now + std::chrono::minutes(60)), HasSubstr("(60 min ago)"));
}

}  // namespace
}  // namespace rdmablk::target
