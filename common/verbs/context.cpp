#include "common/verbs/context.h"

#include <fmt/format.h>

#include "common/error.h"

namespace rdmablk::verbs {

Context::Context(ibv_device* device) : context_(ibv_open_device(device)) {
  if (!context_) {
    throw SystemError(fmt::format("open RDMA device {}", ibv_get_device_name(device)), errno);
  }
}

bool is_soft_iwarp(ibv_context* context) {
  constexpr std::uint32_t kVendor = 0x626d74;
  return is_iwarp(context) && query_device(context).vendor_id == kVendor;
}

bool is_iwarp(const ibv_context* context) noexcept {
  return context->device->transport_type == IBV_TRANSPORT_IWARP;
}

ibv_device_attr query_device(ibv_context* context) {
  ibv_device_attr attributes{};
  if (const int error = ibv_query_device(context, &attributes)) {
    throw SystemError(fmt::format("query RDMA device {}", device_name(context)), error);
  }
  return attributes;
}

std::uint32_t max_message_size(ibv_context* context) {
  ibv_port_attr port{};
  if (const int error = ibv_query_port(context, 1, &port)) {
    throw SystemError(fmt::format("query port 1 of RDMA device {}", device_name(context)), error);
  }
  return port.max_msg_sz;
}

std::string device_name(const ibv_context* context) {
  return ibv_get_device_name(context->device);
}

}  // namespace rdmablk::verbs
