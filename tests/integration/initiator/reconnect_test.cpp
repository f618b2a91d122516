// Sessions that lose a real target, or a queue of it, and come back.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/integration/initiator/kept_image.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;
using initiator::SessionState;

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kSize = 2 << 20;

/// One of the three kinds of exports.
struct Kind {
  const char* name;
  const char* export_options;  ///< null: in memory
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

/// A target with an export "disk".
class Target {
 public:
  explicit Target(const Kind& kind)
      : path_(scratch_.make("disk", kSize)),
        arguments_{"--keepalive", "1", "--export",
                   kind.export_options == nullptr ? "disk=memory:2M,chunk=64K"
                                                  : "disk=file:" + path_ + kind.export_options},
        process_(arguments_) {}

  std::unique_ptr<initiator::Session> connect() {
    initiator::SessionOptions options;
    options.recovery.reconnect_delay = std::chrono::milliseconds(200);
    options.recovery.give_up.reset();
    return initiator::Session::connect(process_.host_port(), options);
  }

  TargetProcess& process() { return process_; }

 private:
  target::ScratchDirectory scratch_;
  std::string path_;
  std::vector<std::string> arguments_;
  TargetProcess process_;
};

/// Writes a page of a value. @return the error.
int write(QueueDriver& driver, std::uint64_t page, int value, bool durable = false) {
  Request& request = driver.submit(Operation::write, page * kPage, kPage);
  request.durable = durable;
  std::ranges::fill(driver.buffer(request), static_cast<std::byte>(value));
  return driver.wait().error;
}

/// The first byte of a page; nothing when it cannot be read.
std::optional<int> read(QueueDriver& driver, std::uint64_t page) {
  if (driver.run(Operation::read, page * kPage, kPage) != 0) return std::nullopt;
  return static_cast<int>(driver.last_buffer()[0]);
}

class LostQueueTest : public ::testing::TestWithParam<Kind> {};

/// The request that a device refuses takes the queue with it, three times, and then ends alone.
TEST_P(LostQueueTest, OnlyTheRequestThatCannotBeDoneFails) {
  if (std::getenv("RDMABLK_IN_VM") != nullptr) {
    GTEST_SKIP() << "soft-RoCE and soft-iWARP flush it like all others, without a word";
  }
  Target target(GetParam());
  const auto session = target.connect();
  initiator::AttachOptions options;
  options.queues = 2;
  const auto image = session->attach("disk", options);
  QueueDriver driver(*image, 8, 24, 2 * kPage);
  QueueDriver other(*image, 8, 2, 2 * kPage);
  session->start();
  // What another queue flushes must not wait for ever for one that has died, nor the other way.
  const std::jthread flusher([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_EQ(write(other, 300, 1), 0);
      EXPECT_EQ(other.run(Operation::flush, 0, 0), 0);
    }
  });
  const initiator::MemoryKeys no_keys;
  for (int round = 1; round <= 5; ++round) {
    Request* wrong = nullptr;
    for (unsigned i = 0; i < 20; ++i) {
      Request& request = driver.submit(Operation::write, i * 2 * kPage, 2 * kPage);
      request.durable = i % 5 == 0;
      std::ranges::fill(driver.buffer(request), static_cast<std::byte>(round));
      if (i != 10) continue;
      wrong = &driver.submit(Operation::write, 400 * kPage, kPage);
      wrong->keys = &no_keys;
      driver.submit(Operation::flush, 0, 0);
    }
    driver.kick();
    while (driver.under_way() > 0) {
      const Request& ended = driver.wait();
      ASSERT_EQ(ended.error, &ended == wrong ? EIO : 0);
    }
    for (unsigned i = 0; i < 20; ++i) ASSERT_EQ(read(driver, 2 * i + 1), round);
  }
  EXPECT_GT(session->state().reconnects, 0U);
}

INSTANTIATE_TEST_SUITE_P(, LostQueueTest,
                         ::testing::Values(Kind{"memory", nullptr}, Kind{"file", ""},
                                           Kind{"resident", ",resident,chunk=64K"}),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(ReconnectTest, WhoLosesItsLeaseFailsForGood) {
  Target target(Kind{"file", ""});
  const auto old = target.connect();
  const auto old_image = old->attach("disk", {});
  QueueDriver old_driver(*old_image, 8, 2, kPage);
  old->start();
  ASSERT_EQ(write(old_driver, 0, 1), 0);
  const auto session = target.connect();
  initiator::AttachOptions options;
  options.take_over = true;
  const auto image = session->attach("disk", options);
  QueueDriver driver(*image, 8, 2, kPage);
  session->start();
  EXPECT_EQ(write(old_driver, 0, 2), EIO);
  EXPECT_EQ(old->state().phase, SessionState::Phase::lost);
  EXPECT_EQ(read(driver, 0), 1);
  session->stop();
  old->stop();
}

TEST(ReconnectTest, AFrozenTargetIsNoticedAndResumed) {
  Target target(Kind{"memory", nullptr});
  const auto session = target.connect();
  const auto image = session->attach("disk", {});
  QueueDriver driver(*image, 8, 2, kPage);
  session->start();
  ASSERT_EQ(write(driver, 0, 1), 0);
  target.process().send(SIGSTOP);
  while (session->state().phase == SessionState::Phase::connected) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  driver.submit(Operation::read, 0, kPage);
  driver.kick();
  target.process().send(SIGCONT);
  EXPECT_EQ(driver.wait().error, 0);
  EXPECT_EQ(read(driver, 0), 1);
  session->stop();
}

}  // namespace
}  // namespace rdmablk::testing
