#pragma once

#include <functional>
#include <string>

#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"
#include "tests/softverbs/verbs/shared_memory.h"

namespace softverbs::test {

/// One end of a connection to another process.
struct End {
  /// \param lent  what the other process may access; null: nothing
  explicit End(Wire& wire, char* lent = nullptr, size_t length = kSize, int access = kAllAccess)
      : buffer(endpoint.pd, kSize) {
    Address own = endpoint.address();
    if (lent != nullptr) {
      region.reset(ibv_reg_mr(endpoint.pd, lent, length, access));
      EXPECT_NE(region, nullptr);
      own.memory = reinterpret_cast<uint64_t>(lent);
      own.rkey = region->rkey;
    }
    wire.send(own);
    peer = wire.receive<Address>();
    endpoint.connect(peer);
    wire.send('r');
    wire.receive<char>();
  }
  [[nodiscard]] ibv_wc_status run(const ibv_send_wr& request) const {
    EXPECT_EQ(endpoint.post(request), 0);
    return endpoint.wait().status;
  }
  [[nodiscard]] ibv_wc_status write(size_t offset, size_t length) const {
    ibv_sge sge = buffer.sge(0, length);
    return run(write_request(&sge, peer.memory + offset, peer.rkey));
  }
  [[nodiscard]] ibv_wc_status read(size_t offset, size_t length) const {
    ibv_sge sge = buffer.sge(0, length);
    return run(read_request(&sge, peer.memory + offset, peer.rkey));
  }

  Owned<ibv_context> context = open_device();
  Endpoint endpoint{context.get()};
  Buffer buffer;
  Owned<ibv_mr> region;
  Address peer;
};

/// The permissions with which this process maps memory of a SharedMemory; empty when it does not.
std::string mapped_with();

/// Waits until it maps none.
bool becomes_unmapped();

/// A responder that makes memory and waits. Each byte it sends says that it has done something.
ChildProcess make_responder(const Kind& kind = {}, int access = kAllAccess,
                            const std::function<void(Wire&, End&, SharedMemory&)>& after = {});

}  // namespace softverbs::test
