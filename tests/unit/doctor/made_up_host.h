#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "initiator/doctor/host.h"

namespace rdmablk::doctor {

/// A host whose files are a test's, gone with this. It has everything that it needs.
class MadeUpHost {
 public:
  MadeUpHost() {
    std::string pattern = std::filesystem::temp_directory_path() / "rdmablk-doctor-XXXXXX";
    host.root = ::mkdtemp(pattern.data());
    host.devices = {{.name = "mlx5_0",
                     .node_type = "channel adapter",
                     .transport = "InfiniBand",
                     .firmware = "1.0",
                     .node_guid = "",
                     .ports = {{.number = 1,
                                .state = "active",
                                .link_layer = "Ethernet",
                                .active_mtu = 1024,
                                .max_mtu = 4096,
                                .lid = 0,
                                .gids = {{3, "RoCE v2", "::ffff:192.0.2.1", "eth0"}}}},
                     .error = ""}};
    host.memlock_limit = UINT64_MAX;
    host.cores = 2;
    host.search_path = "/usr/sbin:/usr/bin";
    write("/sys/class/net/eth0/mtu", "1500");
    write("/sys/module/ib_uverbs/refcnt", "1");
    write("/sys/module/rdma_ucm/refcnt", "1");
    write("/dev/infiniband/rdma_cm", "");
    write("/dev/infiniband/uverbs0", "");
    write("/dev/fuse", "");
    write("/etc/fuse.conf", "# comment\nuser_allow_other");
    write("/usr/bin/fusermount3", "");
    std::filesystem::permissions(host.at("/usr/bin/fusermount3"), std::filesystem::perms(04755));
    write("/proc/self/cgroup", "0::/user.slice/session");
    write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64");
  }
  ~MadeUpHost() { std::filesystem::remove_all(host.root); }
  MadeUpHost(const MadeUpHost&) = delete;
  MadeUpHost& operator=(const MadeUpHost&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(host.at(path).parent_path());
    std::ofstream(host.at(path)) << text << '\n';
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(host.at(path)); }

  Host host;
};

}  // namespace rdmablk::doctor
