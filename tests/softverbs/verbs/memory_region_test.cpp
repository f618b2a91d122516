#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

/// Anonymous pages with a protection.
class Pages {
 public:
  Pages(size_t count, int protection)
      : length_(count * kPage),
        memory_(mmap(nullptr, length_, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(memory_, length_); }
  [[nodiscard]] char* get() const { return static_cast<char*>(memory_); }

 private:
  size_t length_;
  void* memory_;
};

/// Lowers RLIMIT_MEMLOCK and gives up CAP_IPC_LOCK until destruction.
class MemlockLimit {
 public:
  explicit MemlockLimit(size_t bytes) {
    getrlimit(RLIMIT_MEMLOCK, &before_);
    const rlimit lower{bytes, before_.rlim_max};
    setrlimit(RLIMIT_MEMLOCK, &lower);
    syscall(SYS_capget, &header_, data_);
    had_ = data_[kIndex].effective;
    data_[kIndex].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
    syscall(SYS_capset, &header_, data_);
  }
  MemlockLimit(const MemlockLimit&) = delete;
  MemlockLimit& operator=(const MemlockLimit&) = delete;
  ~MemlockLimit() {
    data_[kIndex].effective = had_;
    syscall(SYS_capset, &header_, data_);
    setrlimit(RLIMIT_MEMLOCK, &before_);
  }

 private:
  static constexpr size_t kIndex = CAP_TO_INDEX(CAP_IPC_LOCK);
  rlimit before_{};
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data_[_LINUX_CAPABILITY_U32S_3] = {};
  uint32_t had_ = 0;
};

class MemoryRegionTest : public testing::Test {
 protected:
  ibv_mr* reg(void* memory, size_t length, int access) {
    return ibv_reg_mr(pd.get(), memory, length, access);
  }
  Owned<ibv_context> context = open_device();
  Owned<ibv_pd> pd{ibv_alloc_pd(context.get())};
};

TEST_F(MemoryRegionTest, DescribesWhatWasRegistered) {
  const Pages pages(2, PROT_READ | PROT_WRITE);
  const Owned<ibv_mr> region(reg(pages.get() + 100, kPage, kAllAccess));
  ASSERT_TRUE(region);
  EXPECT_EQ(region->addr, pages.get() + 100);
  EXPECT_EQ(region->length, kPage);
  EXPECT_EQ(region->pd, pd.get());
  EXPECT_EQ(region->context, context.get());
  EXPECT_NE(region->lkey, 0U);
}

TEST_F(MemoryRegionTest, RefusesNoLengthAndRemoteWriteWithoutLocalWrite) {
  const Pages pages(1, PROT_READ | PROT_WRITE);
  EXPECT_EQ(reg(pages.get(), 0, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(reg(pages.get(), kPage, IBV_ACCESS_REMOTE_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(reg(pages.get(), kPage, IBV_ACCESS_REMOTE_ATOMIC), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(reg(pages.get(), SIZE_MAX, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(MemoryRegionTest, RefusesMemoryThatIsNotThereOrNotWritable) {
  const Pages none(1, PROT_NONE);
  EXPECT_EQ(reg(none.get(), kPage, 0), nullptr);
  EXPECT_EQ(errno, EFAULT);
  const Pages constant(1, PROT_READ);
  EXPECT_EQ(reg(constant.get(), kPage, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_TRUE(Owned<ibv_mr>(reg(constant.get(), kPage, IBV_ACCESS_REMOTE_READ)));
  const Pages half(2, PROT_READ | PROT_WRITE);
  ASSERT_EQ(mprotect(half.get() + kPage, kPage, PROT_NONE), 0);
  EXPECT_EQ(reg(half.get(), kPage + 1, 0), nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(MemoryRegionTest, CountsEveryRegistrationAgainstTheMemlockLimit) {
  const MemlockLimit limit(4 * kPage);
  const Pages pages(3, PROT_READ | PROT_WRITE);
  Owned<ibv_mr> first(reg(pages.get(), 2 * kPage, IBV_ACCESS_LOCAL_WRITE));
  ASSERT_TRUE(first);
  // The same two pages again count again; straddling a boundary by a byte counts a page more.
  EXPECT_EQ(reg(pages.get() + 1, 2 * kPage, 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  const Owned<ibv_mr> second(reg(pages.get(), 2 * kPage, 0));
  ASSERT_TRUE(second);
  EXPECT_EQ(reg(pages.get(), 1, 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  first.reset();
  EXPECT_TRUE(Owned<ibv_mr>(reg(pages.get(), 2 * kPage, 0)));
}

TEST_F(MemoryRegionTest, DoesNotHandOutAKeyAgainSoon) {
  const Pages pages(1, PROT_READ | PROT_WRITE);
  std::set<uint32_t> seen;
  for (int i = 0; i < 2000; ++i) {
    const Owned<ibv_mr> region(reg(pages.get(), kPage, 0));
    ASSERT_TRUE(region);
    EXPECT_TRUE(seen.insert(region->rkey).second);
  }
}

TEST_F(MemoryRegionTest, KeepsItsProtectionDomainAlive) {
  const Pages pages(1, PROT_READ | PROT_WRITE);
  Owned<ibv_mr> region(reg(pages.get(), kPage, 0));
  EXPECT_EQ(ibv_dealloc_pd(pd.get()), EBUSY);
  region.reset();
  EXPECT_EQ(ibv_dealloc_pd(pd.release()), 0);
}

}  // namespace
}  // namespace softverbs::test
