#include "initiator/reconnecting_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace rdmablk::initiator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A connection that does what a test says.
class ScriptedQueue final : public ConnectedQueue {
 public:
  explicit ScriptedQueue(std::atomic<int>* destroyed = nullptr) : destroyed_(destroyed) {}
  ~ScriptedQueue() override {
    if (destroyed_ != nullptr) ++*destroyed_;
  }
  ScriptedQueue(const ScriptedQueue&) = delete;
  ScriptedQueue& operator=(const ScriptedQueue&) = delete;

  void submit(Request& request) noexcept override {
    request.progress.restart();
    submitted.push_back(&request);
  }
  void kick() noexcept override {
    if (dies_when_kicked) fail();
  }
  std::size_t poll(std::span<Request*> done) noexcept override {
    std::size_t count = 0;
    while (count < done.size() && !ended.empty()) {
      done[count++] = ended.front();
      ended.pop_front();
    }
    return count;
  }
  bool is_idle() const noexcept override { return submitted.empty() && ended.empty(); }
  int fd() const noexcept override { return event.fd(); }
  void arm() noexcept override {
    event.take();
    is_armed = true;
  }

  /// One of those that were submitted has ended.
  void end(Request& request, int error = 0) {
    std::erase(submitted, &request);
    request.error = error;
    ended.push_back(&request);
    event.signal();
  }

  /// Goes down with all that it has.
  void fail() {
    set_down("because");
    while (!submitted.empty()) end(*submitted.front(), kUndone);
    event.signal();
  }

  WakeEvent event;
  std::deque<Request*> submitted;
  std::deque<Request*> ended;
  bool is_armed = false;
  bool dies_when_kicked = false;

 private:
  std::atomic<int>* destroyed_;
};

bool is_readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

class ReconnectingQueueTest : public ::testing::Test {
 protected:
  std::vector<Request*> poll(std::size_t room = 16) {
    std::vector<Request*> done(room);
    done.resize(queue_.poll(done));
    return done;
  }

  /// Gives it a new connection.
  ScriptedQueue& deliver() {
    auto next = std::make_unique<ScriptedQueue>();
    ScriptedQueue& raw = *next;
    hand_over_.deliver(std::move(next));
    return raw;
  }

  /// Has its connection die, and takes that back.
  void lose() {
    connected_->fail();
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_NE(hand_over_.take_given_up(), nullptr);
  }

  WakeEvent control_;
  HandOver hand_over_{control_};
  ScriptedQueue* connected_ = new ScriptedQueue;  // the queue's
  ReconnectingQueue queue_{hand_over_, std::unique_ptr<ConnectedQueue>(connected_), {}, nullptr};
  std::array<Request, 8> requests_;
};

TEST_F(ReconnectingQueueTest, PassesRequestsOn) {
  queue_.submit(requests_[0]);
  EXPECT_THAT(connected_->submitted, ElementsAre(&requests_[0]));
  connected_->end(requests_[0], ENOSPC);
  EXPECT_TRUE(is_readable(queue_.fd()));
  EXPECT_THAT(poll(), ElementsAre(&requests_[0]));
  EXPECT_EQ(requests_[0].error, ENOSPC);
  queue_.arm();
  EXPECT_FALSE(is_readable(queue_.fd()));
}

TEST_F(ReconnectingQueueTest, GivesUpAConnectionThatIsDownAndTellsTheControlThread) {
  queue_.submit(requests_[0]);
  queue_.submit(requests_[1]);
  connected_->fail();
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_TRUE(is_readable(control_.fd()));
  const auto dead = hand_over_.take_given_up();
  ASSERT_EQ(dead.get(), connected_);
  EXPECT_EQ(dead->failure(), "because");
  EXPECT_EQ(hand_over_.undone(), 2U);
}

/// Nothing is left to be done again by who comes next.
TEST_F(ReconnectingQueueTest, LeavesAConnectionWhenWhatIsUnderWayHasEnded) {
  queue_.submit(requests_[0]);
  hand_over_.ask_to_leave();
  EXPECT_TRUE(is_readable(queue_.fd()));
  EXPECT_THAT(poll(), IsEmpty());
  queue_.submit(requests_[1]);
  EXPECT_THAT(connected_->submitted, ElementsAre(&requests_[0]));
  EXPECT_EQ(hand_over_.take_given_up(), nullptr);
  connected_->end(requests_[0]);
  EXPECT_THAT(poll(), ElementsAre(&requests_[0]));
  const auto left = hand_over_.take_given_up();
  ASSERT_EQ(left.get(), connected_);
  EXPECT_FALSE(left->is_down());
  EXPECT_EQ(hand_over_.undone(), 0U);
  queue_.submit(requests_[2]);
  EXPECT_THAT(poll(), IsEmpty());
  ScriptedQueue& next = deliver();
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_THAT(next.submitted, ElementsAre(&requests_[1], &requests_[2]));
  queue_.submit(requests_[3]);
  EXPECT_THAT(next.submitted, ElementsAre(&requests_[1], &requests_[2], &requests_[3]));
}

TEST_F(ReconnectingQueueTest, LeavesAnIdleConnectionAtOnce) {
  hand_over_.ask_to_leave();
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_NE(hand_over_.take_given_up(), nullptr);
}

/// The loss of one that is to be left is a loss like any other.
TEST_F(ReconnectingQueueTest, LosesAConnectionThatItIsToLeave) {
  queue_.submit(requests_[0]);
  hand_over_.ask_to_leave();
  EXPECT_THAT(poll(), IsEmpty());
  queue_.submit(requests_[1]);
  connected_->fail();
  EXPECT_THAT(poll(), IsEmpty());
  const auto dead = hand_over_.take_given_up();
  ASSERT_NE(dead, nullptr);
  EXPECT_TRUE(dead->is_down());
  EXPECT_EQ(hand_over_.undone(), 1U);
  ScriptedQueue& next = deliver();
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_THAT(next.submitted, ElementsAre(&requests_[0], &requests_[1]));
}

TEST_F(ReconnectingQueueTest, DoesAgainWhatWasUnderWayAndThenWhatCameSince) {
  for (int i = 0; i < 3; ++i) queue_.submit(requests_[i]);
  lose();
  queue_.submit(requests_[3]);
  queue_.kick();
  EXPECT_THAT(poll(), IsEmpty());
  ScriptedQueue& next = deliver();
  EXPECT_TRUE(is_readable(queue_.fd()));
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_THAT(next.submitted,
              ElementsAre(&requests_[0], &requests_[1], &requests_[2], &requests_[3]));
  EXPECT_TRUE(next.is_armed);  // who polled may sleep now
  next.end(requests_[2]);
  EXPECT_TRUE(is_readable(queue_.fd()));
  EXPECT_THAT(poll(), ElementsAre(&requests_[2]));
  EXPECT_EQ(requests_[2].error, 0);
  queue_.arm();
  EXPECT_FALSE(is_readable(queue_.fd()));
}

TEST_F(ReconnectingQueueTest, WhatTheTargetAnsweredStands) {
  for (int i = 0; i < 3; ++i) queue_.submit(requests_[i]);
  connected_->end(requests_[1], ENOSPC);
  connected_->fail();
  EXPECT_THAT(poll(), ElementsAre(&requests_[1]));
  EXPECT_EQ(requests_[1].error, ENOSPC);
  EXPECT_EQ(hand_over_.undone(), 2U);
}

/// The control thread may have looked at what is unflushed already.
TEST_F(ReconnectingQueueTest, AcknowledgesNothingThatAQueueReturnsAsItGoesDown) {
  queue_.submit(requests_[0]);
  connected_->end(requests_[0]);
  connected_->fail();
  EXPECT_THAT(poll(), IsEmpty());
  ScriptedQueue& next = deliver();
  poll();
  EXPECT_THAT(next.submitted, ElementsAre(&requests_[0]));
}

TEST_F(ReconnectingQueueTest, AnswersMoreThanFit) {
  for (Request& request : requests_) queue_.submit(request);
  for (Request& request : requests_) connected_->end(request, ENOSPC);
  connected_->fail();
  std::size_t count = 0;
  while (const std::size_t got = poll(3).size()) count += got;
  EXPECT_EQ(count, requests_.size());
}

TEST_F(ReconnectingQueueTest, TheNextConnectionMayBeDownAtOnce) {
  queue_.submit(requests_[0]);
  lose();
  deliver().dies_when_kicked = true;
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_NE(hand_over_.take_given_up(), nullptr);
  ScriptedQueue& third = deliver();
  poll();
  EXPECT_THAT(third.submitted, ElementsAre(&requests_[0]));
}

TEST_F(ReconnectingQueueTest, FailsWhatWaitsWhenToldSo) {
  queue_.submit(requests_[0]);
  lose();
  hand_over_.set_service(Service::failing);
  EXPECT_TRUE(is_readable(queue_.fd()));
  EXPECT_THAT(poll(), ElementsAre(&requests_[0]));
  EXPECT_EQ(requests_[0].error, EIO);
  queue_.submit(requests_[1]);
  EXPECT_THAT(poll(), ElementsAre(&requests_[1]));
  ScriptedQueue& next = deliver();
  poll();
  queue_.submit(requests_[2]);
  EXPECT_THAT(next.submitted, ElementsAre(&requests_[2]));
}

TEST_F(ReconnectingQueueTest, TakesNoConnectionOnceLost) {
  lose();
  hand_over_.set_service(Service::lost);
  deliver();
  queue_.submit(requests_[0]);
  EXPECT_THAT(poll(), ElementsAre(&requests_[0]));
  EXPECT_EQ(requests_[0].error, EIO);
  EXPECT_NE(hand_over_.call_back(), nullptr);
}

TEST_F(ReconnectingQueueTest, CancelsOnlyWhatWaits) {
  queue_.submit(requests_[0]);
  EXPECT_FALSE(queue_.cancel(requests_[0]));
  lose();
  queue_.submit(requests_[1]);
  queue_.submit(requests_[2]);
  EXPECT_TRUE(queue_.cancel(requests_[2]));
  EXPECT_TRUE(queue_.cancel(requests_[0]));
  EXPECT_FALSE(queue_.cancel(requests_[0]));
  ScriptedQueue& next = deliver();
  poll();
  EXPECT_THAT(next.submitted, ElementsAre(&requests_[1]));
}

/// It could still be done, after a newer write that went over another queue.
TEST_F(ReconnectingQueueTest, LetsGoOfAChangeThatWasUnderWayOnlyWhenItIsFenced) {
  for (Request& request : requests_) {
    request.operation = Operation::write;
    request.length = 1;
  }
  queue_.submit(requests_[0]);
  queue_.submit(requests_[1]);
  lose();
  queue_.submit(requests_[2]);
  hand_over_.set_service(Service::failing);
  EXPECT_THAT(poll(), ElementsAre(&requests_[2]));
  EXPECT_FALSE(queue_.cancel(requests_[0]));
  queue_.arm();
  hand_over_.set_fenced();
  EXPECT_TRUE(is_readable(queue_.fd()));
  EXPECT_TRUE(queue_.cancel(requests_[0]));
  EXPECT_THAT(poll(), ElementsAre(&requests_[1]));
  EXPECT_EQ(requests_[1].error, EIO);
}

TEST_F(ReconnectingQueueTest, TheNextConnectionIsNotFenced) {
  requests_[0].operation = Operation::write;
  requests_[0].length = 1;
  hand_over_.set_fenced();
  queue_.submit(requests_[0]);
  lose();
  connected_ = &deliver();
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_THAT(connected_->submitted, ElementsAre(&requests_[0]));
  lose();
  hand_over_.set_service(Service::failing);
  EXPECT_THAT(poll(), IsEmpty());
  EXPECT_FALSE(queue_.cancel(requests_[0]));
}

TEST_F(ReconnectingQueueTest, NewsThatComesLateDoesNotKeepTheDescriptorReadable) {
  lose();
  deliver();
  hand_over_.set_service(Service::failing);
  hand_over_.set_service(Service::waiting);
  poll();
  queue_.arm();
  EXPECT_FALSE(is_readable(queue_.fd()));
  hand_over_.set_service(Service::failing);
  EXPECT_TRUE(is_readable(queue_.fd()));
  queue_.arm();
  EXPECT_FALSE(is_readable(queue_.fd()));
}

TEST(ReconnectingQueue, RefusesToWriteWhatIsReadOnly) {
  WakeEvent control;
  HandOver hand_over(control);
  ReconnectingQueue queue(hand_over, std::make_unique<ScriptedQueue>(), {.read_only = true},
                          nullptr);
  Request request;
  request.operation = Operation::discard;
  request.length = 1;
  queue.submit(request);
  Request* done = nullptr;
  ASSERT_EQ(queue.poll({&done, 1}), 1U);
  EXPECT_EQ(request.error, EROFS);
}

/// A connection that lives for a while: it ends requests at random, and dies at random.
class MortalQueue final : public ConnectedQueue {
 public:
  MortalQueue(unsigned seed, std::atomic<int>& alive) : random_(seed), alive_(alive) { ++alive_; }
  ~MortalQueue() override { --alive_; }
  MortalQueue(const MortalQueue&) = delete;
  MortalQueue& operator=(const MortalQueue&) = delete;

  void submit(Request& request) noexcept override { requests_.push_back(&request); }
  void kick() noexcept override {}
  std::size_t poll(std::span<Request*> done) noexcept override {
    if (random_() % 8 == 0) set_down("chance");
    std::size_t count = 0;
    while (count < done.size() && !requests_.empty() && (is_down() || random_() % 2 == 0)) {
      done[count] = requests_.front();
      requests_.pop_front();
      done[count++]->error = is_down() ? kUndone : 0;
    }
    return count;
  }
  int fd() const noexcept override { return event_.fd(); }
  void arm() noexcept override { event_.signal(); }  // never sleeps while there is one

 private:
  std::minstd_rand random_;
  std::atomic<int>& alive_;
  std::deque<Request*> requests_;
  WakeEvent event_;
};

/// Two threads that know one another by the hand-over alone; no request and no wake-up gets lost.
TEST(ReconnectingQueue, ThreadsHandConnectionsToAndFro) {
  constexpr int kRequests = 20000;
  std::atomic<int> alive = 0;
  WakeEvent control;
  std::atomic<bool> ended = false;
  {
    HandOver hand_over(control);
    ReconnectingQueue queue(hand_over, std::make_unique<MortalQueue>(1, alive), {}, nullptr);
    std::jthread controller([&] {
      unsigned seed = 1;
      while (!ended) {
        pollfd wait{control.fd(), POLLIN, 0};
        ::poll(&wait, 1, -1);
        control.take();
        if (!hand_over.take_given_up()) continue;
        if (++seed % 3 == 0) hand_over.set_service(Service::waiting);
        hand_over.deliver(std::make_unique<MortalQueue>(seed, alive));
        if (seed % 5 == 0) {  // unless somebody has taken it
          if (auto back = hand_over.call_back()) hand_over.deliver(std::move(back));
        }
      }
    });
    std::array<Request, 16> requests;
    int submitted = 0;
    int done = 0;
    for (Request& request : requests) queue.submit(request), ++submitted;
    std::array<Request*, 4> got{};
    while (done < kRequests) {
      queue.kick();
      std::size_t count = queue.poll(got);
      if (count == 0) {
        queue.arm();
        count = queue.poll(got);
      }
      if (count == 0) {
        pollfd wait{queue.fd(), POLLIN, 0};
        ASSERT_EQ(::poll(&wait, 1, 60000), 1) << "nobody wakes the queue";
      }
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(got[i]->error, 0);
        ++done;
        queue.submit(*got[i]);
      }
    }
    ended = true;
    control.signal();
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace rdmablk::initiator
