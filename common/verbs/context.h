#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <string>
#include <vector>

namespace rdmablk::verbs {

/// An opened device (ibv_open_device(3)). rdma_cm opens its own: see cm/connection_manager.h.
class Context {
 public:
  /// Throws SystemError.
  explicit Context(ibv_device* device);

  ibv_context* get() const noexcept { return context_.get(); }

 private:
  struct Close {
    void operator()(ibv_context* context) const noexcept { ibv_close_device(context); }
  };
  std::unique_ptr<ibv_context, Close> context_;
};

/// Whether a device plays by iWARP's rules: a WRITE completes when it has been sent, and the sink
/// of a READ needs IBV_ACCESS_REMOTE_WRITE (RFC 5040).
bool is_iwarp(const ibv_context* context) noexcept;

/// Whether it is the kernel's soft-iWARP (siw), by its vendor. Throws SystemError.
bool is_soft_iwarp(ibv_context* context);

/// The limits of a device (ibv_query_device(3)). Throws SystemError.
ibv_device_attr query_device(ibv_context* context);

/// The longest message that a device's first port takes, in bytes (ibv_query_port(3)). Throws
/// SystemError.
std::uint32_t max_message_size(ibv_context* context);

/// A device's name: "mlx5_0".
std::string device_name(const ibv_context* context);

}  // namespace rdmablk::verbs
