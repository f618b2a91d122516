#include "common/verbs/device_list.h"

namespace rdmablk::verbs {

DeviceList::DeviceList() : list_(nullptr) {
  int count = 0;
  list_ = ibv_get_device_list(&count);
  if (list_ != nullptr) devices_ = {list_, static_cast<std::size_t>(count)};
}

DeviceList::~DeviceList() {
  if (list_ != nullptr) ibv_free_device_list(list_);
}

const char* how_to_get_a_device() {
  return "There are three ways to get an RDMA device:\n"
         "  1. an RDMA network card (InfiniBand, RoCE or iWARP) and its driver; `rdma link` shows "
         "it\n"
         "  2. soft-RoCE on any Ethernet interface, as root:\n"
         "       modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0\n"
         "  3. the software device, for trials on one host without a kernel driver:\n"
         "       scripts/soft-device COMMAND...";
}

}  // namespace rdmablk::verbs
