#include "common/cm/blocking_connect.h"

#include <csignal>

#include <asio/post.hpp>
#include <cerrno>
#include <utility>

#include "common/error.h"

namespace rdmablk::cm {

BlockingConnect::BlockingConnect(asio::io_context& io, rdma_cm_id& id,
                                 const rdma_conn_param& parameters,
                                 std::span<const std::byte> private_data,
                                 std::function<void(int)> done)
    : io_(io),
      id_(id),
      parameters_(parameters),
      private_data_(private_data.begin(), private_data.end()),
      done_(lifetime_.guard(std::move(done))) {
  parameters_.private_data = private_data_.data();
  if (const int error = ::pthread_create(&thread_, nullptr, run, this)) {
    throw SystemError("start a thread that connects", error);
  }
}

/// The cancellation's signal interrupts the kernel's waiting, whatever the program does with
/// signals, and write(2), in which the thread is, is a point of cancellation (pthreads(7)).
BlockingConnect::~BlockingConnect() {
  ::pthread_cancel(thread_);
  ::pthread_join(thread_, nullptr);
}

void* BlockingConnect::run(void* self) {
  auto& call = *static_cast<BlockingConnect*>(self);
  int ignored = 0;
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  const int result = rdma_connect(&call.id_, &call.parameters_);
  const int error = result == 0 ? 0 : errno;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ignored);
  asio::post(call.io_, [done = call.done_, error] { done(error); });
  return nullptr;
}

}  // namespace rdmablk::cm
