// The point of it all: the target's processor does not run for reads and writes of a memory export.

#include <gtest/gtest.h>

#include <cstdlib>

#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/integration/initiator/queue_driver.h"
#include "tests/integration/target/target_process.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;

TEST(OneSidedTest, TargetSleepsDuringReadsAndWrites) {
  constexpr int kRequests = 10000;
  constexpr std::uint64_t kSize = 4 << 20;
  TargetProcess target({"--export", "disk=memory:" + std::to_string(kSize)});
  const auto session = initiator::Session::connect(target.host_port());
  const auto image = session->attach("disk", {});
  {
    QueueDriver driver(*image, 32, 1, 4096);
    session->start();
    const auto before = target.cpu_time();
    for (const Operation operation : {Operation::read, Operation::write}) {
      for (std::uint64_t i = 0; i < kRequests; ++i) {
        ASSERT_EQ(driver.run(operation, i * 4096 % kSize, 4096), 0);
      }
    }
    const auto spent = target.cpu_time() - before;
    // In the kernel's soft-RoCE and soft-iWARP the work of the "hardware" may be charged to
    // anybody.
    if (std::getenv("RDMABLK_IN_VM") == nullptr) {
      EXPECT_LT(spent, std::chrono::milliseconds(20));
    }
    session->stop();
  }
  target.terminate();
  EXPECT_EQ(target.wait(), 0);
  EXPECT_NE(target.log().find("io_queue_receives=0"), std::string::npos) << target.log();
}

}  // namespace
}  // namespace rdmablk::testing
