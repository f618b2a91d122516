#pragma once

#include <pthread.h>
#include <rdma/rdma_cma.h>

#include <asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "common/lifetime.h"

namespace rdmablk::cm {

/// rdma_connect(3) on a thread of its own, for soft-iWARP: there it waits in the kernel until TCP
/// is through, minutes when nobody answers (siw_connect(), Linux 6.12), and so would a control
/// thread that called it. Meanwhile no other call may be made for the identifier, or its queue pair
/// be destroyed: those wait as well. Used by the thread that runs the io_context.
class BlockingConnect {
 public:
  /// Begins. Throws SystemError when there is no thread to be had.
  /// @param id outlives this.
  /// @param private_data is copied, as `parameters` are.
  /// @param done gets 0 or an errno value, by the io_context; may destroy this.
  BlockingConnect(asio::io_context& io, rdma_cm_id& id, const rdma_conn_param& parameters,
                  std::span<const std::byte> private_data, std::function<void(int)> done);

  /// Breaks it off.
  ~BlockingConnect();
  BlockingConnect(const BlockingConnect&) = delete;
  BlockingConnect& operator=(const BlockingConnect&) = delete;

 private:
  static void* run(void* self);

  asio::io_context& io_;
  rdma_cm_id& id_;
  rdma_conn_param parameters_;
  std::vector<std::byte> private_data_;
  Lifetime lifetime_;
  std::function<void(int)> done_;
  pthread_t thread_{};
};

}  // namespace rdmablk::cm
