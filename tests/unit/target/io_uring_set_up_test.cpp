#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <thread>
#include <vector>

#include "common/verbs/memory_region.h"
#include "error_of.h"
#include "target/io_uring.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;

TEST(IoUringSetUpTest, WorksWithoutFilesAndBuffers) {
  IoUring ring({}, 0);
  ring.run(false);
  EXPECT_EQ(ring.in_flight(), 0U);
}

TEST(IoUringSetUpTest, SaysWhatIsWrongWithFiles) {
  const std::array files{12345};
  EXPECT_THAT(error_of<SystemError>([&] { IoUring ring(files, 0); }),
              HasSubstr("register files with an io_uring: Bad file descriptor"));
}

/// Takes CAP_IPC_LOCK from the calling thread (capset(2)).
void obey_memlock() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  ASSERT_EQ(::syscall(SYS_capget, &header, data.data()), 0);
  data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
  ASSERT_EQ(::syscall(SYS_capset, &header, data.data()), 0);
}

TEST(IoUringSetUpTest, SaysWhenTheLimitOfLockedMemoryIsInTheWay) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
  const rlimit low{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &low), 0);
  std::thread([] {
    obey_memlock();
    std::vector<std::byte> memory(4 << 20);
    IoUring ring({}, 1);
    EXPECT_THAT(error_of<verbs::MemlockError>([&] { ring.register_buffer(memory); }),
                HasSubstr("cannot register 4 MiB of memory with an io_uring: the limit of locked"));
    EXPECT_EQ(ring.register_buffer(std::span(memory).first(4096)), 0U) << "is no loss";
  }).join();
  EXPECT_EQ(::setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

}  // namespace
}  // namespace rdmablk::target
