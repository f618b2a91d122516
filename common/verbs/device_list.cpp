#include "common/verbs/device_list.h"

#include <filesystem>
#include <system_error>

namespace rdmablk::verbs {
namespace {

namespace fs = std::filesystem;

/// Whether the kernel has a device, and nobody has put its nodes into /dev.
bool lacks_nodes() {
  std::error_code error;
  const fs::directory_iterator devices("/sys/class/infiniband", error);
  if (error || devices == fs::directory_iterator()) return false;
  return !fs::exists("/dev/infiniband/rdma_cm", error);
}

}  // namespace

DeviceList::DeviceList() : list_(nullptr) {
  int count = 0;
  list_ = ibv_get_device_list(&count);
  if (list_ != nullptr) devices_ = {list_, static_cast<std::size_t>(count)};
}

DeviceList::~DeviceList() {
  if (list_ != nullptr) ibv_free_device_list(list_);
}

std::string no_device_hint() {
  if (!lacks_nodes()) return "`rdmablk devices` explains the ways to get a device";
  return "the kernel has one, but there is no /dev/infiniband/rdma_cm: `modprobe -a ib_uverbs "
         "rdma_ucm` loads what makes it, and a container is given it with "
         "--device=/dev/infiniband";
}

const char* how_to_get_a_device() {
  return "There are three ways to get an RDMA device:\n"
         "  1. an RDMA network card (InfiniBand, RoCE or iWARP) and its driver; `rdma link` shows "
         "it\n"
         "  2. soft-RoCE on any Ethernet interface, as root:\n"
         "       modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0\n"
         "  3. the software device, for trials on one host without a kernel driver, in a clone of "
         "rdmablk:\n"
         "       scripts/soft-device COMMAND...\n"
         "A container uses its host's: --device=/dev/infiniband --network=host";
}

}  // namespace rdmablk::verbs
