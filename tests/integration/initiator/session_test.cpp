// What an initiator is told, and how it fails, while it sets up.

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <sstream>

#include "common/error.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/integration/initiator/fake_target.h"
#include "tests/integration/initiator/queue_driver.h"
#include "tests/integration/target/target_process.h"

namespace rdmablk::testing {
namespace {

using initiator::Session;

/// The text of the error that a call ends with.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SessionTest, ListsExportsByName) {
  std::vector<std::string> arguments;
  for (int i = 0; i < 100; ++i) {
    arguments.insert(arguments.end(), {"--export", "e" + std::to_string(100 + i) + "=memory:4K"});
  }
  const TargetProcess target(arguments);
  const auto exports = Session::connect(target.host_port())->list();
  ASSERT_EQ(exports.size(), 100U);
  EXPECT_EQ(exports.front().name, "e100");
  EXPECT_EQ(exports.back().name, "e199");
  EXPECT_EQ(exports.back().size, 4096U);
}

/// Nor does it fill the log.
TEST(SessionTest, ATargetWithoutAnEndHoldsNobodyUp) {
  std::ostringstream log;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  FakeTarget target;
  target.change([](FakeTarget::Script& script) { script.lists_for_ever = true; });
  initiator::SessionOptions options;
  options.timeout = std::chrono::milliseconds(500);
  const auto session = Session::connect(target.host_port(), options);
  const std::string error = error_of([&] { session->list(); });
  spdlog::set_default_logger(before);
  EXPECT_NE(error.find("did not answer in time"), std::string::npos) << error;
  const std::string lines = log.str();
  EXPECT_NE(lines.find("the target is shutting down"), std::string::npos);
  EXPECT_LE(std::ranges::count(lines, '\n'), 5) << lines;
}

TEST(SessionTest, NamesTheExportsThereAreWhenAskedForAnother) {
  const TargetProcess target({"--export", "one=memory:4K", "--export", "two=memory:4K"});
  const auto session = Session::connect(target.host_port());
  const std::string error = error_of([&] { session->attach("three", {}); });
  EXPECT_NE(error.find("three"), std::string::npos) << error;
  EXPECT_NE(error.find("one"), std::string::npos) << error;
  EXPECT_NE(error.find("two"), std::string::npos) << error;
}

TEST(SessionTest, RefusesToWriteWhatIsReadOnly) {
  const TargetProcess target({"--export", "rom=memory:4K,readonly"});
  const auto session = Session::connect(target.host_port());
  EXPECT_NE(error_of([&] { session->attach("rom", {}); }).find("read-only"), std::string::npos);
  initiator::AttachOptions options;
  options.access = protocol::Access::read_only;
  EXPECT_TRUE(session->attach("rom", options)->info().read_only);
}

TEST(SessionTest, ReadOnlyAttachmentCannotWrite) {
  const TargetProcess target({"--export", "disk=memory:1M"});
  const auto session = Session::connect(target.host_port());
  initiator::AttachOptions options;
  options.access = protocol::Access::read_only;
  options.queues = 2;
  const auto image = session->attach("disk", options);
  QueueDriver driver(*image, 4, 1, 4096);
  QueueDriver other(*image, 4, 1, 4096);
  session->start();
  EXPECT_EQ(driver.run(initiator::Operation::read, 0, 4096), 0);
  EXPECT_EQ(driver.run(initiator::Operation::write, 0, 4096), EROFS);
  EXPECT_EQ(other.run(initiator::Operation::read, 0, 4096), 0);
  EXPECT_EQ(other.last_buffer()[0], std::byte{});
  session->stop();
}

TEST(SessionTest, SaysThatNobodyListens) {
  HostPort nowhere;
  {
    const TargetProcess target({"--export", "disk=memory:4K"});
    nowhere = target.host_port();
  }
  const std::string error = error_of([&] { Session::connect(nowhere); });
  EXPECT_NE(error.find(nowhere.text()), std::string::npos) << error;
  EXPECT_NE(error.find("rdmablk-target"), std::string::npos) << error;
}

TEST(SessionTest, SaysThatAHostHasNoAddress) {
  const std::string error = error_of([] { Session::connect({"no.such.host.invalid"}); });
  EXPECT_NE(error.find("no.such.host.invalid"), std::string::npos) << error;
}

TEST(SessionTest, MakesNoMoreQueuesThanGranted) {
  const TargetProcess target({"--export", "disk=memory:4K"});
  const auto session = Session::connect(target.host_port());
  const auto image = session->attach("disk", {});
  const auto queue = image->make_queue(4);
  EXPECT_NE(error_of([&] { image->make_queue(4); }).find("grants 1"), std::string::npos);
}

TEST(SessionTest, OutlivesATargetThatEndsWhileAttached) {
  TargetProcess target({"--export", "disk=memory:4K"});
  const auto session = Session::connect(target.host_port());
  const auto image = session->attach("disk", {});
  const auto queue = image->make_queue(4);
  session->start();
  target.terminate();
  EXPECT_EQ(target.wait(), 0);
  session->stop();
}

}  // namespace
}  // namespace rdmablk::testing
