#include "common/cm/id_disposal.h"

#include <utility>

#include "common/verbs/context.h"

namespace rdmablk::cm {

bool is_port_down(const rdma_cm_id& id) noexcept {
  // iWARP sets up connections by TCP.
  if (id.verbs == nullptr || verbs::is_iwarp(id.verbs)) return false;
  ibv_port_attr port{};
  return ibv_query_port(id.verbs, id.port_num, &port) == 0 && port.state != IBV_PORT_ACTIVE;
}

void IdDisposal::take(CmId id) {
  if (!is_port_down(*id)) return;
  id->context = nullptr;
  waiting_.push_back(std::move(id));
}

void IdDisposal::retry() noexcept {
  std::erase_if(waiting_, [](const CmId& id) { return !is_port_down(*id); });
}

void IdDisposal::forget(const ibv_context* device) noexcept {
  std::erase_if(waiting_, [device](const CmId& id) { return id->verbs == device; });
}

}  // namespace rdmablk::cm
