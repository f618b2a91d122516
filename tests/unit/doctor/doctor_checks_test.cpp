#include "initiator/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "initiator/doctor/doctor_report.h"
#include "tests/unit/doctor/made_up_host.h"

namespace rdmablk::doctor {
namespace {

using testing::HasSubstr;

class DoctorChecks : public testing::Test {
 protected:
  /// What a check has found: it is there once.
  Finding finding(const std::string& check) const {
    const Findings findings = check_host(made_up.host);
    const auto is_it = [&](const Finding& each) { return each.check == check; };
    EXPECT_EQ(std::count_if(findings.begin(), findings.end(), is_it), 1) << check;
    const auto found = std::find_if(findings.begin(), findings.end(), is_it);
    return found == findings.end() ? Finding{} : *found;
  }

  /// Expects a verdict, what was found, and that advice is given where there is something to do.
  void expect(const std::string& check, Verdict verdict, const std::string& found,
              const std::string& advice = "") const {
    const Finding actual = finding(check);
    EXPECT_STREQ(verdict_name(actual.verdict), verdict_name(verdict)) << check << actual.found;
    EXPECT_THAT(actual.found, HasSubstr(found)) << check;
    EXPECT_THAT(actual.advice, HasSubstr(advice)) << check;
    const bool wants_advice = verdict == Verdict::warning || verdict == Verdict::failure;
    EXPECT_EQ(actual.advice.empty(), !wants_advice) << check;
  }

  cli::RdmaPort& port() { return made_up.host.devices.front().ports.front(); }

  MadeUpHost made_up;
};

TEST_F(DoctorChecks, FindNothingWrongWithAHostThatIsWell) {
  const Findings findings = check_host(made_up.host);
  EXPECT_TRUE(is_well(findings)) << doctor_text(findings);
  for (const Finding& each : findings) {
    EXPECT_NE(each.verdict, Verdict::warning) << each.check << ": " << each.found;
  }
}

TEST_F(DoctorChecks, Device) {
  expect("device mlx5_0", Verdict::ok, "RoCE, 1 port");
  made_up.host.devices.front().error = "cannot open it";
  expect("device mlx5_0", Verdict::failure, "cannot open it", "dmesg");
  made_up.host.devices.clear();
  expect("device", Verdict::failure, "no RDMA device", "rdmablk devices");
}

TEST_F(DoctorChecks, Port) {
  expect("port mlx5_0/1", Verdict::ok, "active, Ethernet");
  port().state = "down";
  expect("port mlx5_0/1", Verdict::failure, "down", "ip link set");
  port().link_layer = "InfiniBand";
  expect("port mlx5_0/1", Verdict::failure, "down", "opensm");
}

TEST_F(DoctorChecks, ASpareSecondPortIsNoFailure) {
  auto second = port();
  second.number = 2;
  second.state = "down";
  second.gids.clear();
  made_up.host.devices.front().ports.push_back(second);
  expect("port mlx5_0/2", Verdict::warning, "down", "ip link set");
  expect("gid mlx5_0/2", Verdict::warning, "no address", "ip address add");
}

TEST_F(DoctorChecks, Gid) {
  expect("gid mlx5_0/1", Verdict::ok, "::ffff:192.0.2.1 (RoCE v2, index 3)");
  port().gids.front().type = "RoCE v1";
  expect("gid mlx5_0/1", Verdict::warning, "none of RoCE v2", "not routed");
  made_up.host.devices.front().transport = "iWARP";
  expect("gid mlx5_0/1", Verdict::ok, "192.0.2.1");
  port().gids.clear();
  expect("gid mlx5_0/1", Verdict::failure, "no address", "ip address add");
}

TEST_F(DoctorChecks, Mtu) {
  expect("mtu mlx5_0/1", Verdict::ok, "1024 of at most 4096 bytes; eth0 has 1500");
  made_up.write("/sys/class/net/eth0/mtu", "9000");
  expect("mtu mlx5_0/1", Verdict::warning, "eth0 has 9000", "room for 4096");
  port().active_mtu = 4096;
  expect("mtu mlx5_0/1", Verdict::ok, "4096 of");
  made_up.remove("/sys/class/net/eth0");
  expect("mtu mlx5_0/1", Verdict::skipped, "no network interface");
}

TEST_F(DoctorChecks, Modules) {
  expect("kernel modules", Verdict::ok, "are loaded");
  made_up.remove("/sys/module/rdma_ucm");
  expect("kernel modules", Verdict::failure, "not loaded: rdma_ucm", "modprobe -a rdma_ucm");
  made_up.write("/sys/class/misc/rdma_cm/dev", "10:58");  // built in
  expect("kernel modules", Verdict::ok, "are loaded");
}

TEST_F(DoctorChecks, DeviceNodes) {
  expect("device nodes", Verdict::ok, "rdma_cm, uverbs0 in /dev/infiniband");
  made_up.remove("/dev/infiniband/uverbs0");
  expect("device nodes", Verdict::failure, "no uverbsN", "--device=/dev/infiniband");
  made_up.remove("/dev/infiniband");
  expect("device nodes", Verdict::failure, "has no", "ib_uverbs");
}

TEST_F(DoctorChecks, TheSoftwareDeviceNeedsNothingOfTheKernel) {
  made_up.host.preloaded = "/usr/lib/libsoftverbs.so";
  made_up.remove("/sys/module");
  made_up.remove("/dev/infiniband");
  expect("software device", Verdict::ok, "preloaded");
  expect("kernel modules", Verdict::skipped, "nothing of the kernel");
  expect("device nodes", Verdict::skipped, "nothing of the kernel");
}

TEST_F(DoctorChecks, ControlGroup) {
  expect("rdma control group", Verdict::ok, "no limits");
  made_up.write("/sys/fs/cgroup/user.slice/rdma.max", "mlx5_0 hca_handle=max hca_object=max");
  expect("rdma control group", Verdict::ok, "no limits");
  made_up.write("/sys/fs/cgroup/user.slice/rdma.max", "mlx5_0 hca_handle=2 hca_object=2000");
  expect("rdma control group", Verdict::warning, "/user.slice limits RDMA: mlx5_0 hca_handle=2",
         "rdma.max");
  made_up.remove("/proc/self/cgroup");
  expect("rdma control group", Verdict::skipped, "no control group");
}

TEST_F(DoctorChecks, IoUring) {
  expect("io_uring", Verdict::ok, "works (Linux 6.1.0-18-amd64)");
  made_up.write("/proc/sys/kernel/osrelease", "5.10.0");
  expect("io_uring", Verdict::warning, "works", "5.19");
  made_up.host.io_uring_error = "Operation not permitted";
  expect("io_uring", Verdict::warning, "not permitted", "seccomp");
  made_up.write("/proc/sys/kernel/io_uring_disabled", "2");
  expect("io_uring", Verdict::warning, "not permitted", "kernel.io_uring_disabled is 2");
}

TEST_F(DoctorChecks, Memlock) {
  expect("memlock", Verdict::ok, "no limit");
  made_up.host.memlock_limit = 64U << 20U;  // two cores: two workers
  expect("memlock", Verdict::ok, "64 MiB may be locked");
  made_up.host.memlock_limit = 8U << 20U;
  expect("memlock", Verdict::warning, "8 MiB may be locked; a mount wants 64 MiB",
         "ulimit -l 65536");
  made_up.host.memlock_limit = 65536;
  expect("memlock", Verdict::failure, "64 KiB may be locked", "LimitMEMLOCK");
}

TEST_F(DoctorChecks, HugePages) {
  expect("huge pages", Verdict::skipped, "none are reserved");
  made_up.write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "10");
  made_up.write("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "7");
  made_up.write("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0");
  expect("huge pages", Verdict::ok, "7 of 10 free, of 2 MiB each");
}

TEST_F(DoctorChecks, Fuse) {
  expect("fuse", Verdict::ok, "/dev/fuse");
  made_up.remove("/dev/fuse");
  expect("fuse", Verdict::failure, "no /dev/fuse", "modprobe fuse");
}

TEST_F(DoctorChecks, Fusermount) {
  expect("fusermount3", Verdict::ok, "/usr/bin/fusermount3");
  std::filesystem::permissions(made_up.host.at("/usr/bin/fusermount3"),
                               std::filesystem::perms(0755));
  expect("fusermount3", Verdict::failure, "not setuid", "chmod u+s");
  made_up.host.is_root = true;
  expect("fusermount3", Verdict::ok, "/usr/bin/fusermount3");
  made_up.remove("/usr/bin");
  expect("fusermount3", Verdict::skipped, "not installed");
  made_up.host.is_root = false;
  expect("fusermount3", Verdict::failure, "not installed", "apt install fuse3");
}

TEST_F(DoctorChecks, AllowOther) {
  expect("user_allow_other", Verdict::ok, "is set");
  made_up.write("/etc/fuse.conf", "#user_allow_other");
  expect("user_allow_other", Verdict::skipped, "no other user");
  made_up.host.is_root = true;
  expect("user_allow_other", Verdict::ok, "needs it not");
}

TEST_F(DoctorChecks, Service) {
  expect("service", Verdict::skipped, "not installed");
  made_up.write("/lib/systemd/system/rdmablk-target.service", "[Unit]");
  expect("service", Verdict::skipped, "systemd does not run");
  made_up.write("/run/systemd/system/x", "");
  expect("service", Verdict::warning, "does not run", "systemctl status");
  made_up.write("/sys/fs/cgroup/system.slice/rdmablk-target.service/cgroup.procs", "17");
  expect("service", Verdict::ok, "runs");
}

TEST_F(DoctorChecks, BearTextsThatMakeNoSense) {
  made_up.write("/sys/class/net/eth0/mtu", "many");
  made_up.write("/proc/self/cgroup", "0::");
  made_up.write("/proc/sys/kernel/osrelease", "");
  made_up.write("/sys/kernel/mm/hugepages/hugepages-manykB/nr_hugepages", "1");
  made_up.write("/sys/kernel/mm/hugepages/other/nr_hugepages", "1");
  EXPECT_TRUE(is_well(check_host(made_up.host)));
}

}  // namespace
}  // namespace rdmablk::doctor
