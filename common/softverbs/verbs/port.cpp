// What a device and its one port say about themselves.
#include <endian.h>
#include <fcntl.h>
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "common/softverbs/export.h"
#include "common/softverbs/file_descriptor.h"
#include "common/softverbs/verbs/context.h"
#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/settings.h"

#undef ibv_query_port

namespace softverbs {
namespace {

// Identifiers with the bit of locally administered OUIs: no vendor has them.
constexpr uint32_t kVendor = 0x02534f;
constexpr uint32_t kPart = 0x5356;

constexpr __be16 kDefaultPkey = 0xffff;
constexpr uint8_t kLinkUp = 5;
constexpr uint8_t kDisabled = 3;
constexpr uint8_t kWidth4X = 2;
constexpr uint8_t kSpeedEdr = 32;
constexpr uint8_t kGrhRequired = 1;

bool valid(uint32_t port) {
  return port == 1;
}

int refuse(int error) {
  errno = error;
  return -1;
}

void fill(ibv_gid_entry& entry, const GidEntry& from, uint32_t index) {
  entry.gid = from.gid;
  entry.gid_index = index;
  entry.port_num = 1;
  entry.gid_type = from.type;
  entry.ndev_ifindex = from.interface_index;
}

}  // namespace
}  // namespace softverbs

using softverbs::Context;
using softverbs::Settings;

SOFTVERBS_EXPORT int ibv_query_device(ibv_context* context, ibv_device_attr* attr) {
  if (Context::from(context)->dead()) return EIO;
  const __be64 guid = Context::from(context)->device().guid();
  std::memset(attr, 0, sizeof *attr);
  std::snprintf(attr->fw_ver, sizeof attr->fw_ver, "%s", RDMABLK_VERSION);
  attr->node_guid = guid;
  attr->sys_image_guid = guid;
  attr->max_mr_size = softverbs::kMaxRegion;
  attr->page_size_cap = 0xfffff000;
  attr->vendor_id = softverbs::kVendor;
  attr->vendor_part_id = softverbs::kPart;
  attr->max_qp = softverbs::kQueuePairsPerProcess - 1;
  attr->max_qp_wr = softverbs::kMaxQueuePairWr;
  attr->device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
                           IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT;
  attr->max_sge = softverbs::kMaxSge;
  attr->max_sge_rd = softverbs::kMaxSge;
  attr->max_cq = softverbs::kMaxCq;
  attr->max_cqe = softverbs::kMaxCqe;
  attr->max_mr = softverbs::kMaxMemoryRegions - 1;
  attr->max_pd = softverbs::kMaxPd;
  attr->max_qp_rd_atom = softverbs::kMaxReadAtomic;
  attr->max_qp_init_rd_atom = softverbs::kMaxReadAtomic;
  attr->max_res_rd_atom =
      softverbs::kMaxReadAtomic * static_cast<int>(softverbs::kQueuePairsPerProcess - 1);
  attr->atomic_cap = Settings::get().iwarp() ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA;
  attr->max_pkeys = Settings::get().iwarp() ? 0 : 1;
  attr->local_ca_ack_delay = 15;
  attr->phys_port_cnt = 1;
  return 0;
}

SOFTVERBS_EXPORT int ibv_query_port(ibv_context* context, uint8_t port_num,
                                    _compat_ibv_port_attr* compat) {
  // The inline wrapper in verbs.h passes a whole, zeroed ibv_port_attr.
  auto* attr = reinterpret_cast<ibv_port_attr*>(compat);
  if (!softverbs::valid(port_num)) return EINVAL;
  if (Context::from(context)->dead()) return EIO;
  const bool down = Context::from(context)->device().port_down.load();
  const bool iwarp = Settings::get().iwarp();
  attr->state = down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  attr->max_mtu = IBV_MTU_4096;
  attr->active_mtu = Context::from(context)->device().active_mtu();
  attr->gid_tbl_len = iwarp ? 1 : static_cast<int>(softverbs::GidTable::kSize);
  attr->port_cap_flags = IBV_PORT_CM_SUP;
  if (!iwarp) attr->port_cap_flags |= IBV_PORT_IP_BASED_GIDS;
  attr->max_msg_sz = softverbs::kMaxMessage;
  attr->pkey_tbl_len = iwarp ? 0 : 1;
  attr->max_vl_num = 1;
  attr->active_width = softverbs::kWidth4X;
  attr->active_speed = softverbs::kSpeedEdr;
  attr->phys_state = down ? softverbs::kDisabled : softverbs::kLinkUp;
  attr->link_layer = IBV_LINK_LAYER_ETHERNET;
  if (!iwarp) attr->flags = softverbs::kGrhRequired;
  return 0;
}

SOFTVERBS_EXPORT int ibv_query_gid(ibv_context* context, uint8_t port_num, int index,
                                   ibv_gid* gid) {
  if (!softverbs::valid(port_num) || index < 0 ||
      static_cast<uint32_t>(index) >= softverbs::GidTable::kSize) {
    return softverbs::refuse(EINVAL);
  }
  if (Context::from(context)->dead()) return softverbs::refuse(EIO);
  // An empty place reads as zeroes, as on the kernel's devices.
  const auto* entry = Context::from(context)->gids().find(static_cast<uint32_t>(index));
  *gid = entry != nullptr ? entry->gid : ibv_gid{};
  return 0;
}

SOFTVERBS_EXPORT int _ibv_query_gid_ex(ibv_context* context, uint32_t port_num, uint32_t gid_index,
                                       ibv_gid_entry* entry, uint32_t flags, size_t entry_size) {
  if (flags != 0 || entry_size < sizeof *entry) return EOPNOTSUPP;
  if (!softverbs::valid(port_num) || gid_index >= softverbs::GidTable::kSize) return EINVAL;
  if (Context::from(context)->dead()) return EIO;
  const auto* found = Context::from(context)->gids().find(gid_index);
  if (found == nullptr) return ENODATA;
  softverbs::fill(*entry, *found, gid_index);
  return 0;
}

SOFTVERBS_EXPORT ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                              size_t max_entries, uint32_t flags,
                                              size_t entry_size) {
  const auto& gids = Context::from(context)->gids().entries();
  if (flags != 0 || entry_size < sizeof *entries) return -EOPNOTSUPP;
  if (Context::from(context)->dead()) return -EIO;
  if (max_entries < gids.size()) return -EINVAL;
  auto* place = reinterpret_cast<char*>(entries);
  for (uint32_t i = 0; i < gids.size(); ++i, place += entry_size) {
    softverbs::fill(*reinterpret_cast<ibv_gid_entry*>(place), gids[i], i);
  }
  return static_cast<ssize_t>(gids.size());
}

// Not in a public header; ibv_devinfo uses it. The type is 0 for IB and RoCE v1, 1 for RoCE v2.
SOFTVERBS_EXPORT int ibv_query_gid_type(ibv_context* context, uint8_t port_num, unsigned index,
                                        int* type) {
  if (!softverbs::valid(port_num) || index >= softverbs::GidTable::kSize) {
    return softverbs::refuse(EINVAL);
  }
  if (Context::from(context)->dead()) return softverbs::refuse(EIO);
  const auto* entry = Context::from(context)->gids().find(index);
  *type = entry != nullptr && entry->type == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
  return 0;
}

SOFTVERBS_EXPORT int ibv_query_pkey(ibv_context* context, uint8_t port_num, int index,
                                    __be16* pkey) {
  if (Context::from(context)->dead()) return softverbs::refuse(EIO);
  if (!softverbs::valid(port_num) || index != 0 || Settings::get().iwarp()) {
    return softverbs::refuse(EINVAL);
  }
  *pkey = softverbs::kDefaultPkey;
  return 0;
}

SOFTVERBS_EXPORT int ibv_get_pkey_index(ibv_context*, uint8_t port_num, __be16 pkey) {
  if (!softverbs::valid(port_num) || pkey != softverbs::kDefaultPkey || Settings::get().iwarp()) {
    return softverbs::refuse(EINVAL);
  }
  return 0;
}

// The devices have no sysfs: their paths are empty and nothing is found below them.
SOFTVERBS_EXPORT int ibv_read_sysfs_file(const char* dir, const char* file, char* buf,
                                         size_t size) {
  if (*dir == '\0' || size == 0) return softverbs::refuse(ENOENT);
  const std::string path = std::string(dir) + "/" + file;
  const softverbs::FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return -1;
  const ssize_t length = read(fd.get(), buf, size);
  if (length <= 0) return static_cast<int>(length);
  const auto last = static_cast<size_t>(length) - 1;
  if (buf[last] == '\n') {
    buf[last] = '\0';
    return static_cast<int>(last);
  }
  if (static_cast<size_t>(length) < size) buf[length] = '\0';
  return static_cast<int>(length);
}

SOFTVERBS_EXPORT int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*,
                                                 uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t* vid) {
  std::memset(eth_mac, 0, ETHERNET_LL_SIZE);
  if (vid != nullptr) *vid = 0xffff;
  return 0;
}
