#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

namespace rdmablk::cm {

/// Owns an identifier of rdma_cm (rdma_create_id(3)). All events of it must have been acknowledged
/// before it is destroyed, or destroying it blocks.
struct DestroyId {
  void operator()(rdma_cm_id* id) const noexcept { rdma_destroy_id(id); }
};
using CmId = std::unique_ptr<rdma_cm_id, DestroyId>;

}  // namespace rdmablk::cm
