#include "initiator/remote_read.h"

#include <fmt/format.h>

#include "common/descriptor_watch.h"
#include "common/error.h"

namespace rdmablk::initiator {
namespace {

void post_read(verbs::QueuePair& qp, std::span<std::byte> into, std::uint32_t lkey,
               const RemotePlace& from) {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(into.data()),
                  static_cast<std::uint32_t>(into.size()), lkey};
  ibv_send_wr work{};
  work.opcode = IBV_WR_RDMA_READ;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &segment;
  work.num_sge = 1;
  work.wr.rdma.remote_addr = from.address;
  work.wr.rdma.rkey = from.rkey;
  ibv_send_wr* unposted = nullptr;
  if (const int error = qp.post_send(work, unposted)) throw SystemError("post a READ", error);
}

}  // namespace

void read_remote(ControlLoop& loop, const IdleQueue& queue, std::span<std::byte> into,
                 std::uint32_t lkey, const RemotePlace& from,
                 ControlLoop::Clock::time_point deadline) {
  const DescriptorWatch watch(loop.io(), queue.events.fd(), [&] {
    queue.events.drain();
    queue.cq.arm();
  });
  queue.cq.arm();
  post_read(queue.qp, into, lkey, from);
  ibv_wc completion{};
  const bool in_time = loop.run_until(deadline, [&] {
    return queue.cq.poll({&completion, 1}) == 1;
  });
  if (!in_time) throw Error("cannot READ from the target's memory: no completion in time");
  if (completion.status != IBV_WC_SUCCESS) {
    throw Error(
        fmt::format("cannot READ from the target's memory: {}", verbs::describe(completion)));
  }
}

}  // namespace rdmablk::initiator
