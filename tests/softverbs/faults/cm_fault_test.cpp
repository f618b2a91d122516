// Messages of the connection manager that are lost, and requests that it refuses.
#include <cerrno>

#include "tests/softverbs/cm/cm_support.h"
#include "tests/softverbs/faults/with_faults.h"

namespace softverbs::cm_test {
namespace {

using test::with_faults;

constexpr int kStaleConnection = 10;

void expect_timeout(const ChannelPtr& channel, rdma_cm_event_type type) {
  const EventPtr event = expect_event(channel, type);
  if (event) {
    EXPECT_EQ(event->status, -ETIMEDOUT);
  }
}

/// A listener, and an id that has asked it for a connection.
struct Asking {
  ChannelPtr passive_channel = make_channel();
  ChannelPtr active_channel = make_channel();
  IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  IdPtr active = make_resolved(active_channel, "127.0.0.1", port_of(listener));

  Asking() { make_qp(active.get()); }
  void ask() const { ASSERT_EQ(connect_again(active), 0); }
};

/// The passive side of `pair`, which has been asked, accepts.
void accept(const Pair& pair) {
  make_qp(pair.passive.get());
  ASSERT_EQ(accept_with(pair.passive), 0);
}

TEST(CmFaults, ALostRequestIsGivenUp) {
  with_faults("cm-lost:event=connect-request,cm-timeout=700", [] {
    const Asking asking;
    asking.ask();
    expect_timeout(asking.active_channel, RDMA_CM_EVENT_UNREACHABLE);
    EXPECT_FALSE(has_event(asking.passive_channel));
  });
}

TEST(CmFaults, ALostReplyIsGivenUpByBoth) {
  with_faults("cm-lost:event=connect-response,cm-timeout=700", [] {
    Pair pair;
    pair.request(parameters());
    accept(pair);
    expect_timeout(pair.active_channel, RDMA_CM_EVENT_UNREACHABLE);
    expect_timeout(pair.passive_channel, RDMA_CM_EVENT_UNREACHABLE);
  });
}

TEST(CmFaults, WithoutTheLastMessageOneEndIsConnected) {
  with_faults("cm-lost:event=established,cm-timeout=700", [] {
    Pair pair;
    pair.request(parameters());
    accept(pair);
    expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
    expect_timeout(pair.passive_channel, RDMA_CM_EVENT_UNREACHABLE);
  });
}

TEST(CmFaults, ALostRejectionIsGivenUp) {
  with_faults("cm-lost:event=rejected,cm-timeout=700", [] {
    Pair pair;
    pair.request(parameters());
    ASSERT_EQ(rdma_reject(pair.passive.get(), nullptr, 0), 0);
    expect_timeout(pair.active_channel, RDMA_CM_EVENT_UNREACHABLE);
  });
}

TEST(CmFaults, ALostDisconnectLeavesTheOtherEndConnected) {
  with_faults("cm-lost:event=disconnected,cm-timeout=700", [] {
    Pair pair;
    pair.connect();
    ASSERT_EQ(rdma_disconnect(pair.active.get()), 0);
    expect_timeout(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_FALSE(has_event(pair.passive_channel));
    EXPECT_EQ(state_of(pair.passive->qp), IBV_QPS_RTS);
  });
}

TEST(CmFaults, TheFarewellOfAnEndThatIsGoneIsLostToo) {
  with_faults("cm-lost:event=disconnected:max=1", [] {
    Pair lost;
    lost.connect();
    lost.active.reset();
    // Connecting takes several rounds of messages: by then the farewell before it has been dropped.
    Pair heard;
    heard.connect();
    heard.active.reset();
    expect_event(heard.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
    EXPECT_FALSE(has_event(lost.passive_channel));
    EXPECT_EQ(state_of(lost.passive->qp), IBV_QPS_RTS);
  });
}

TEST(CmFaults, ARequestIsRefusedAsStale) {
  with_faults("cm-reject:max=1", [] {
    const Asking asking;
    asking.ask();
    expect_rejected(asking.active_channel, kStaleConnection);
    EXPECT_FALSE(has_event(asking.passive_channel));
    Pair pair;
    pair.connect();
  });
}

}  // namespace
}  // namespace softverbs::cm_test
