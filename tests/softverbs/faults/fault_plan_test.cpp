// What SOFTVERBS_FAULTS takes, and that what it does not take leaves no device.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <string>

#include "tests/softverbs/faults/with_faults.h"

namespace softverbs::test {
namespace {

int devices() {
  int count = -1;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_free_device_list(list);
  return count;
}

/// What the device says on standard error when it is asked for with this specification.
std::string complaint_about(const std::string& faults) {
  const ScratchFile said;
  with_faults(faults, [&] {
    ASSERT_NE(std::freopen(said.path().c_str(), "w", stderr), nullptr);
    EXPECT_EQ(devices(), 0);
    std::fflush(stderr);
  });
  return said.text();
}

TEST(FaultPlan, ADeviceIsThereWithFaultsThatAreUnderstood) {
  for (const char* faults :
       {"", "error:rate=1/500", "error:status=rnr-retry-exc:max=3:after=100,delay:rate=1/20:us=200",
        "qp-death:rate=0\n# a comment, with a comma\n\nlate-write:rate=1/9:ms=20 , stall:ms=5,",
        "cm-lost:event=established,cm-lost:event=any:rate=1/2,cm-reject,cm-timeout=500",
        "post-full,poll-short,reorder,spurious-event,async-event:program=other",
        "device-removal:device=soft1,device-removal:program=other,port-down:device=soft0"}) {
    with_faults(faults, [] { EXPECT_EQ(devices(), 1); });
  }
}

TEST(FaultPlan, OthersAreRefusedWithAReason) {
  const struct {
    const char* faults;
    const char* reason;
  } cases[] = {
      {"qp-deth", "no fault 'qp-deth'"},
      {"error:rate=2/1", "rate is '2/1'"},
      {"error:rate=1/0", "rate is '1/0'"},
      {"error:rate=often", "rate is 'often'"},
      {"error:status=bad", "status is 'bad'; it takes loc-len"},
      {"error:us=3", "error does not take 'us'"},
      {"error:rate", "'rate' has no value"},
      {"cm-lost:event=connected", "event is 'connected'; it takes connect-request"},
      {"delay:us=-1", "us is '-1'"},
      {"device-removal:device=mlx5_0", "device is 'mlx5_0'; it takes soft0"},
      {"port-down:device=soft16", "device is '16'; it takes a number up to 15"},
      {"port-down:rate=1/2", "port-down does not take 'rate': it lasts as long as the plan has it"},
      {"error:device=soft0", "error does not take 'device'"},
      {"cm-timeout=soon", "cm-timeout is 'soon'"},
      {"log=/nowhere/at/all", "cannot write /nowhere/at/all: No such file"},
      {"@/nowhere/at/all", "cannot read /nowhere/at/all: No such file"},
  };
  for (const auto& each : cases) {
    const std::string said = complaint_about(each.faults);
    EXPECT_NE(said.find(each.reason), std::string::npos) << each.faults << ": " << said;
    EXPECT_EQ(said.find('\n'), said.size() - 1) << "one line, but: " << said;
  }
}

TEST(FaultPlan, ASeedIsANumber) {
  setenv("SOFTVERBS_SEED", "x1", 1);
  EXPECT_NE(complaint_about("error").find("SOFTVERBS_SEED is 'x1'"), std::string::npos);
  unsetenv("SOFTVERBS_SEED");
}

}  // namespace
}  // namespace softverbs::test
