// What a device says of features that it does not have: nothing, as those do that have neither
// memory windows nor paging on demand.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

TEST(DeviceLimits, ThereIsNoPagingOnDemand) {
  const Owned<ibv_context> context = open_device();
  ibv_device_attr_ex attr{};
  attr.odp_caps.general_caps = IBV_ODP_SUPPORT;
  attr.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_READ;
  ASSERT_EQ(ibv_query_device_ex(context.get(), nullptr, &attr), 0);
  EXPECT_EQ(attr.odp_caps.general_caps, 0U);
  EXPECT_EQ(attr.odp_caps.per_transport_caps.rc_odp_caps, 0U);
  EXPECT_EQ(attr.orig_attr.max_qp_rd_atom, 16);
  const Owned<ibv_pd> pd(ibv_alloc_pd(context.get()));
  char memory[64];
  errno = 0;
  EXPECT_EQ(ibv_reg_mr(pd.get(), memory, sizeof memory, IBV_ACCESS_ON_DEMAND), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST(DeviceLimits, ThereAreNoMemoryWindows) {
  const Owned<ibv_context> context = open_device();
  ibv_device_attr_ex attr{};
  attr.orig_attr.max_mw = 1;
  ASSERT_EQ(ibv_query_device_ex(context.get(), nullptr, &attr), 0);
  EXPECT_EQ(attr.orig_attr.max_mw, 0);
  EXPECT_EQ(
      attr.orig_attr.device_cap_flags &
          (IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B),
      0U);
  const Owned<ibv_pd> pd(ibv_alloc_pd(context.get()));
  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    errno = 0;
    EXPECT_EQ(ibv_alloc_mw(pd.get(), type), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
  char memory[64];
  errno = 0;
  EXPECT_EQ(
      ibv_reg_mr(pd.get(), memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND),
      nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace softverbs::test
