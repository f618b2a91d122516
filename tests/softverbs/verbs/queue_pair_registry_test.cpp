#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

// Deregistering memory looks at all queue pairs: not at one that is being made.
TEST(QueuePairRegistry, MemoryIsDeregisteredWhileQueuePairsAreMade) {
  constexpr int kQueuePairs = 4000;
  constexpr size_t kBytes = 4096;
  const auto context = open_device();
  const Owned<ibv_pd> pd(ibv_alloc_pd(context.get()));
  std::atomic<bool> done = false;
  std::thread maker([&] {
    for (int i = 0; i < kQueuePairs; ++i) {
      const Endpoint endpoint(context.get());
      EXPECT_NE(endpoint.qp, nullptr);
    }
    done = true;
  });
  while (!done) const Buffer buffer(pd.get(), kBytes);
  maker.join();
}

}  // namespace
}  // namespace softverbs::test
