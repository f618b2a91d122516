#pragma once

#include <infiniband/verbs.h>

#include <vector>

namespace rdmablk::verbs {

/// The addresses of all ports of a device that are in use (ibv_query_gid_table(3)), in the order of
/// the ports' tables. Empty when it does not answer.
std::vector<ibv_gid_entry> gid_table(ibv_context* device);

/// "RoCE v2", of an ibv_gid_type.
const char* gid_type_name(unsigned gid_type) noexcept;

}  // namespace rdmablk::verbs
