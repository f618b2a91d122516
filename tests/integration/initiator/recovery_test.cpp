// What becomes of a session and of its requests when connections are lost, and when the target
// fails at each step of coming back.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>

#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/integration/initiator/fake_target.h"
#include "tests/integration/initiator/queue_driver.h"
#include "tests/unit/target/log_capture.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;
using initiator::SessionState;
using protocol::Status;
using std::chrono::milliseconds;
using Step = FakeTarget::Step;
using Script = FakeTarget::Script;

constexpr std::size_t kPage = 4096;

class RecoveryTest : public ::testing::Test {
 protected:
  ~RecoveryTest() override {
    if (session_) session_->stop();
  }

  void connect(unsigned queues = 1, milliseconds timeout = milliseconds(20000)) {
    initiator::SessionOptions options;
    options.timeout = timeout;
    options.recovery.reconnect_delay = milliseconds(100);
    options.recovery.give_up.reset();
    session_ = initiator::Session::connect(target_.host_port(), options);
    initiator::AttachOptions attach;
    attach.queues = queues;
    image_ = session_->attach("disk", attach);
    for (unsigned i = 0; i < queues; ++i) {
      drivers_.push_back(std::make_unique<QueueDriver>(*image_, 8, 32, 2 * kPage));
    }
    session_->start();
  }

  QueueDriver& driver(unsigned i = 0) { return *drivers_[i]; }

  /// Writes a value to a page and reads it. @return the first error.
  int check(QueueDriver& driver, int value) {
    Request& write = driver.submit(Operation::write, kPage, kPage);
    std::ranges::fill(driver.buffer(write), static_cast<std::byte>(value));
    if (const int error = driver.wait().error) return error;
    if (const int error = driver.run(Operation::read, kPage, kPage)) return error;
    EXPECT_EQ(driver.last_buffer()[kPage - 1], static_cast<std::byte>(value));
    return 0;
  }

  /// Drives a queue that has nothing to do until the session is in a phase.
  void await(SessionState::Phase phase) {
    while (session_->state().phase != phase) {
      driver().poll();
      std::this_thread::yield();
    }
  }

  /// Loses the admin queue, and waits until the session has noticed.
  void lose_admin() {
    await(SessionState::Phase::connected);  // requests are done a little before
    const auto before = session_->state().reconnects;
    target_.drop_admin();
    while (session_->state().phase == SessionState::Phase::connected &&
           session_->state().reconnects == before) {
      std::this_thread::yield();
    }
  }

  void change_recovery(std::optional<milliseconds> fail_fast, std::optional<milliseconds> give_up) {
    initiator::RecoveryOptions options = session_->recovery();
    options.fail_fast = fail_fast;
    options.give_up = give_up;
    session_->set_recovery(options);
  }

  FakeTarget target_;
  std::unique_ptr<initiator::Session> session_;
  std::unique_ptr<initiator::RemoteImage> image_;
  std::vector<std::unique_ptr<QueueDriver>> drivers_;
};

TEST_F(RecoveryTest, DoesAgainWhatWasUnderWayOnALostQueue) {
  constexpr unsigned kRequests = 32;
  connect();
  for (int round = 1; round <= 10; ++round) {
    for (unsigned i = 0; i < kRequests; ++i) {
      Request& write = driver().submit(Operation::write, i * 2 * kPage, 2 * kPage);
      std::ranges::fill(driver().buffer(write), static_cast<std::byte>(round));
    }
    driver().kick();
    target_.drop_queues();
    for (unsigned i = 0; i < kRequests; ++i) ASSERT_EQ(driver().wait().error, 0);
    for (unsigned i = 0; i < kRequests; ++i) {
      ASSERT_EQ(driver().run(Operation::read, i * 2 * kPage, 2 * kPage), 0);
      const auto read = driver().last_buffer();
      ASSERT_TRUE(std::ranges::all_of(
          read, [&](std::byte b) { return b == static_cast<std::byte>(round); }));
    }
  }
  EXPECT_GE(session_->state().reconnects, 1U);
  target_.look([](const Script& script) {
    EXPECT_EQ(script.hellos.size(), 1U);
    EXPECT_EQ(script.attaches.size(), 1U);
    ASSERT_GE(script.queues.size(), 2U);
    for (std::size_t i = 1; i < script.queues.size(); ++i) {
      EXPECT_GT(script.queues[i].epoch, script.queues[i - 1].epoch);
      EXPECT_EQ(script.queues[i].queue, 0U);
    }
  });
}

TEST_F(RecoveryTest, OpensAnotherSessionWhenTheAdminQueueIsLost) {
  connect(2);
  EXPECT_EQ(check(driver(0), 1), 0);
  lose_admin();
  EXPECT_EQ(check(driver(0), 2), 0);
  EXPECT_EQ(check(driver(1), 3), 0);
  target_.look([](const Script& script) {
    EXPECT_EQ(script.hellos.size(), 2U);
    EXPECT_EQ(script.hellos.front().instance, script.hellos.back().instance);
    EXPECT_EQ(script.attaches.front().lease, 0U);
    EXPECT_EQ(script.attaches.front().generation, protocol::Generation{});
    EXPECT_EQ(script.attaches.back().lease, script.lease);
    EXPECT_EQ(script.attaches.back().generation, script.generation);
  });
}

TEST_F(RecoveryTest, DoesNotFillTheLogOfATargetThatComesAndGoes) {
  constexpr int kTimes = 30;
  const target::LogCapture log;
  connect();
  for (int i = 1; i <= kTimes; ++i) {
    EXPECT_EQ(check(driver(), i), 0);
    lose_admin();
  }
  EXPECT_EQ(check(driver(), 0), 0);
  session_->stop();
  EXPECT_GT(log.count("lost the connection"), 0U);
  EXPECT_LT(log.count("lost the connection"), std::size_t{kTimes});
}

class DyingTargetTest : public RecoveryTest, public ::testing::WithParamInterface<Step> {};

TEST_P(DyingTargetTest, CostsAnAttempt) {
  connect();
  EXPECT_EQ(check(driver(), 1), 0);
  target_.change([](Script& script) { script.deaths = {GetParam(), GetParam()}; });
  lose_admin();
  EXPECT_EQ(check(driver(), 2), 0);
  // Those of an I/O queue may come after requests have gone through.
  for (int i = 0; i < 1000 && !target_.look([](const Script& s) { return s.deaths.empty(); });
       ++i) {
    EXPECT_EQ(check(driver(), i), 0);
  }
  EXPECT_EQ(check(driver(), 3), 0);
}

INSTANTIATE_TEST_SUITE_P(, DyingTargetTest,
                         ::testing::Values(Step::admin_request, Step::admin_accepted, Step::hello,
                                           Step::attach, Step::queue_request,
                                           Step::queue_accepted));

TEST_F(RecoveryTest, FailsForGoodWhenTheContentIsAnother) {
  connect();
  target_.change([](Script& script) { script.generation[0] = std::byte{2}; });
  lose_admin();
  EXPECT_EQ(check(driver(), 1), EIO);
  EXPECT_EQ(driver().run(Operation::read, 0, kPage), EIO);
  EXPECT_EQ(session_->state().phase, SessionState::Phase::lost);
}

TEST_F(RecoveryTest, CarriesOnWithAFileOfWhichAllIsFlushed) {
  target_.change([](Script& script) { script.kind = protocol::ExportKind::file; });
  connect();
  for (int round = 1; round <= 3; ++round) {
    EXPECT_EQ(check(driver(), round), 0);
    EXPECT_EQ(driver().run(Operation::flush, 0, 0), 0);
    driver().submit(Operation::write, 0, kPage).durable = true;
    EXPECT_EQ(driver().wait().error, 0);
    target_.change(
        [&](Script& script) { script.generation[0] = static_cast<std::byte>(10 + round); });
    lose_admin();
    EXPECT_EQ(driver().run(Operation::read, kPage, kPage), 0);
    EXPECT_EQ(driver().last_buffer()[0], static_cast<std::byte>(round));
  }
  target_.look([](const Script& script) {
    ASSERT_GE(script.attaches.size(), 7U);  // the first, and twice each time
    EXPECT_EQ(script.attaches.back().generation, protocol::Generation{});
    EXPECT_EQ(script.attaches.back().lease, script.lease);
  });
}

TEST_F(RecoveryTest, FailsForGoodWhenAnAcknowledgedWriteMayBeLost) {
  target_.change([](Script& script) { script.kind = protocol::ExportKind::file; });
  connect();
  EXPECT_EQ(driver().run(Operation::flush, 0, 0), 0);
  EXPECT_EQ(check(driver(), 1), 0);
  target_.change([](Script& script) { script.generation[0] = std::byte{2}; });
  lose_admin();
  EXPECT_EQ(driver().run(Operation::read, 0, kPage), EIO);
  EXPECT_EQ(driver().run(Operation::flush, 0, 0), EIO);
  EXPECT_EQ(session_->state().phase, SessionState::Phase::lost);
}

TEST_F(RecoveryTest, FailsForGoodWhenOtherContentIsAnothersToWrite) {
  target_.change([](Script& script) { script.kind = protocol::ExportKind::file; });
  connect();
  EXPECT_EQ(driver().run(Operation::read, 0, kPage), 0);
  target_.change([](Script& script) {
    script.generation[0] = std::byte{2};
    script.attach_status = Status::fenced;
  });
  lose_admin();
  EXPECT_EQ(driver().run(Operation::read, 0, kPage), EIO);
  EXPECT_EQ(session_->state().phase, SessionState::Phase::lost);
  EXPECT_NE(session_->state().reason.find("other content under its name"), std::string::npos);
}

/// Writes that were under way are done anew: nobody was told that they had been done.
TEST_F(RecoveryTest, WhatWasNotAcknowledgedIsNotLost) {
  target_.change([](Script& script) { script.kind = protocol::ExportKind::file; });
  connect(2);
  target_.change([](Script& script) { script.answers_commands = false; });
  Request& write = driver().submit(Operation::write, 0, 2 * kPage);
  std::ranges::fill(driver().buffer(write), std::byte{7});
  driver().kick();
  target_.change([](Script& script) {
    script.answers_commands = true;
    script.generation[0] = std::byte{2};
  });
  lose_admin();
  EXPECT_EQ(driver().wait().error, 0);
  EXPECT_EQ(driver(1).run(Operation::read, kPage, kPage), 0);
  EXPECT_EQ(driver(1).last_buffer()[0], std::byte{7});
}

TEST_F(RecoveryTest, FailsForGoodWhenFenced) {
  connect();
  target_.change([](Script& script) { script.attach_status = Status::fenced; });
  lose_admin();
  EXPECT_EQ(check(driver(), 1), EIO);
  EXPECT_EQ(session_->state().phase, SessionState::Phase::lost);
}

TEST_F(RecoveryTest, TriesAgainWhenTheExportIsBusy) {
  connect();
  target_.change([](Script& script) { script.attach_status = Status::busy; });
  lose_admin();
  while (target_.look([](const Script& script) { return script.attaches.size(); }) < 4) {
    driver().poll();
    std::this_thread::yield();
  }
  target_.change([](Script& script) { script.attach_status = Status::ok; });
  EXPECT_EQ(check(driver(), 1), 0);
}

TEST_F(RecoveryTest, FailsRequestsFastAndComesBackAllTheSame) {
  connect();
  target_.change([](Script& script) { script.refuses_connections = true; });
  lose_admin();
  driver().submit(Operation::read, 0, kPage);
  change_recovery(milliseconds(0), std::nullopt);
  EXPECT_EQ(driver().wait().error, EIO);  // it was waiting already
  EXPECT_EQ(driver().run(Operation::read, 0, kPage), EIO);
  EXPECT_EQ(session_->state().phase, SessionState::Phase::failing);
  while (session_->state().last_error.empty()) std::this_thread::yield();
  EXPECT_NE(session_->state().last_error.find("cannot connect to"), std::string::npos);
  target_.change([](Script& script) { script.refuses_connections = false; });
  await(SessionState::Phase::connected);
  EXPECT_EQ(session_->state().last_error, "");
  EXPECT_EQ(check(driver(), 1), 0);
}

TEST_F(RecoveryTest, GivesUpWhenToldSo) {
  connect();
  target_.change([](Script& script) { script.refuses_connections = true; });
  lose_admin();
  driver().submit(Operation::read, 0, kPage);
  change_recovery(std::nullopt, milliseconds(1));
  EXPECT_EQ(driver().wait().error, EIO);
  EXPECT_EQ(session_->state().phase, SessionState::Phase::lost);
  target_.change([](Script& script) { script.refuses_connections = false; });
  EXPECT_EQ(driver().run(Operation::read, 0, kPage), EIO);
}

TEST_F(RecoveryTest, TakesBackARequestThatWaits) {
  connect();
  target_.change([](Script& script) { script.refuses_connections = true; });
  lose_admin();
  Request& one = driver().submit(Operation::read, 0, kPage);
  driver().kick();
  driver().poll();
  ASSERT_TRUE(driver().queue().cancel(one));
  EXPECT_FALSE(driver().queue().cancel(one));
  Request& other = driver().submit(Operation::read, 0, kPage);
  target_.change([](Script& script) { script.refuses_connections = false; });
  EXPECT_EQ(&driver().wait(), &other);
  EXPECT_EQ(driver().poll(), nullptr);
}

/// The target may still do a write that was under way, and serves the other queue meanwhile: what
/// that writes then must not be older.
class LoneQueueTest : public RecoveryTest {
 protected:
  /// Loses the queues, and not the admin queue, with a write under way on the first.
  Request& lose_with_a_write() {
    target_.change([](Script& script) { script.kind = protocol::ExportKind::file; });
    connect(2);
    target_.change([](Script& script) {
      script.answers_commands = false;
      script.refuses_connections = true;
    });
    Request& write = driver().submit(Operation::write, 0, kPage);
    driver().kick();
    target_.drop_queues();
    return write;
  }

  /// Lets it come back, and sees that everything was fenced.
  void expect_another_session() {
    target_.change([](Script& script) {
      script.answers_commands = true;
      script.refuses_connections = false;
    });
    await(SessionState::Phase::connected);
    EXPECT_EQ(check(driver(), 1), 0);
    EXPECT_EQ(check(driver(1), 2), 0);
    EXPECT_EQ(target_.look([](const Script& script) { return script.hellos.size(); }), 2U);
  }
};

TEST_F(LoneQueueTest, FencesAWriteBeforeItFails) {
  lose_with_a_write();
  change_recovery(milliseconds(0), std::nullopt);
  EXPECT_EQ(driver().wait().error, EIO);
  change_recovery(std::nullopt, std::nullopt);
  expect_another_session();
}

TEST_F(LoneQueueTest, FencesAWriteBeforeItIsCancelled) {
  Request& write = lose_with_a_write();
  while (!driver().queue().cancel(write)) {
    driver().poll();
    std::this_thread::yield();
  }
  expect_another_session();
}

TEST_F(RecoveryTest, DoesAgainAWriteThatFailedInPart) {
  target_.change([](Script& script) { script.kind = protocol::ExportKind::file; });
  connect();
  target_.change([](Script& script) { script.next_answers = {Status::io_error, std::nullopt}; });
  driver().submit(Operation::write, 0, 2 * kPage);
  Request& read = driver().submit(Operation::read, 0, kPage);
  ASSERT_EQ(&driver().wait(), &read) << "its answer comes behind that to the first half";
  target_.drop_queues();
  EXPECT_EQ(driver().wait().error, 0) << "the other half may still be done";
}

TEST_F(RecoveryTest, NoticesThatTheTargetIsFrozen) {
  target_.change([](Script& script) { script.keepalive_ms = 50; });
  connect();
  EXPECT_EQ(check(driver(), 1), 0);
  target_.freeze();
  await(SessionState::Phase::reconnecting);
  EXPECT_NE(session_->state().reason.find("has not answered"), std::string::npos);
  target_.thaw();
  EXPECT_EQ(check(driver(), 2), 0);
}

TEST_F(RecoveryTest, EndsAtOnceInTheMiddleOfAStep) {
  connect(1, std::chrono::hours(1));
  target_.freeze();
  lose_admin();
  driver().submit(Operation::read, 0, kPage);
  driver().kick();
  session_->stop();
  drivers_.clear();
  image_.reset();
  session_.reset();
}

TEST_F(RecoveryTest, AQueueThatNobodyDrivesStopsNoOther) {
  connect(2);
  EXPECT_EQ(check(driver(1), 1), 0);
  lose_admin();
  EXPECT_EQ(check(driver(0), 2), 0);
  EXPECT_EQ(check(driver(1), 3), 0);
}

TEST_F(RecoveryTest, TheFirstConnectionWaitsForALimitToPass) {
  target_.change([](Script& script) { script.connect_status = Status::limit; });
  connect();
  EXPECT_EQ(check(driver(), 1), 0);
}

}  // namespace
}  // namespace rdmablk::testing
