#pragma once

#include <infiniband/verbs.h>

#include <vector>

namespace rdmablk::verbs {

/// The addresses of all ports of a device that are in use (ibv_query_gid_table(3)), in the order of
/// the ports' tables. Empty when it does not answer.
std::vector<ibv_gid_entry> gid_table(ibv_context* device);

}  // namespace rdmablk::verbs
