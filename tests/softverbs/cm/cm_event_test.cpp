// Event channels: descriptor, acknowledgement, destruction, migration.

#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <future>
#include <thread>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

void start_resolving(const IdPtr& id) {
  sockaddr_storage remote = address("127.0.0.1", 7471);
  ASSERT_EQ(0, rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000));
}

/// Everything begun before this call has reached its channel: work is done in order.
void wait_for_background() {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  start_resolving(id);
  expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
}

/// A call in a thread of its own that is expected to wait for something.
class BlockedCall {
 public:
  template <typename Call>
  explicit BlockedCall(Call call)
      : thread_([this, call] {
          started_.set_value();
          call();
          done_ = true;
        }) {
    started_.get_future().wait();
  }
  ~BlockedCall() { thread_.join(); }
  BlockedCall(const BlockedCall&) = delete;
  BlockedCall& operator=(const BlockedCall&) = delete;
  [[nodiscard]] bool done() const { return done_; }

 private:
  std::promise<void> started_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST(EventChannel, EmptyNonBlockingChannelSaysAgain) {
  const ChannelPtr channel = make_channel();
  ASSERT_EQ(0, fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK));
  rdma_cm_event* event = nullptr;
  EXPECT_EQ(-1, rdma_get_cm_event(channel.get(), &event));
  EXPECT_EQ(EAGAIN, errno);
  const IdPtr id = make_id(channel.get());
  start_resolving(id);
  expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_FALSE(has_event(channel));
  EXPECT_EQ(-1, rdma_get_cm_event(channel.get(), &event));
  EXPECT_EQ(EAGAIN, errno);
}

TEST(EventChannel, BlockingReadWaitsForTheEvent) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  auto reader = std::async(std::launch::async, [&] {
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(0, rdma_get_cm_event(channel.get(), &event));
    return EventPtr(event);
  });
  start_resolving(id);
  EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, reader.get()->event);
}

TEST(EventChannel, NullArgumentsAreInvalid) {
  EXPECT_EQ(-1, rdma_ack_cm_event(nullptr));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(-1, rdma_get_cm_event(nullptr, nullptr));
  EXPECT_EQ(EINVAL, errno);
}

TEST(EventChannel, ContextOfTheIdComesBack) {
  int mark = 0;
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get(), &mark);
  start_resolving(id);
  const EventPtr event = expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(id.get(), event->id);
  EXPECT_EQ(&mark, event->id->context);
  EXPECT_EQ(nullptr, event->listen_id);
}

TEST(EventChannel, UdpPortSpaceIsNotSupported) {
  const ChannelPtr channel = make_channel();
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(-1, rdma_create_id(channel.get(), &id, nullptr, RDMA_PS_UDP));
  EXPECT_EQ(EOPNOTSUPP, errno);
}

TEST(DestroyId, DropsWhatIsQueued) {
  const ChannelPtr channel = make_channel();
  IdPtr id = make_id(channel.get());
  start_resolving(id);
  wait_for_background();
  ASSERT_TRUE(has_event(channel));
  id.reset();
  EXPECT_FALSE(has_event(channel));
}

TEST(DestroyId, WaitsForTheAcknowledgement) {
  const ChannelPtr channel = make_channel();
  IdPtr id = make_id(channel.get());
  start_resolving(id);
  EventPtr event = expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  std::atomic<bool> acknowledged{false};
  std::atomic<bool> early{false};
  {
    const BlockedCall destroy([&] {
      id.reset();
      if (!acknowledged) early = true;
    });
    // A second id lives through a whole life meanwhile, which gives a destroy that does not wait
    // every chance to be seen.
    for (int round = 0; round < 20; ++round) make_resolved(channel, "127.0.0.1", 7471);
    EXPECT_FALSE(destroy.done());
    acknowledged = true;
    event.reset();
  }
  EXPECT_FALSE(early);
}

TEST(MigrateId, TakesItsPendingEventsAlong) {
  const ChannelPtr from = make_channel();
  const ChannelPtr to = make_channel();
  const IdPtr id = make_id(from.get());
  start_resolving(id);
  wait_for_background();
  ASSERT_TRUE(has_event(from));
  ASSERT_EQ(0, rdma_migrate_id(id.get(), to.get()));
  EXPECT_EQ(to.get(), id->channel);
  EXPECT_EQ(id.get(), expect_event(to, RDMA_CM_EVENT_ADDR_RESOLVED)->id);
  EXPECT_FALSE(has_event(from));
}

TEST(MigrateId, WaitsForEventsOfTheOldChannel) {
  const ChannelPtr from = make_channel();
  const ChannelPtr to = make_channel();
  const IdPtr id = make_id(from.get());
  start_resolving(id);
  EventPtr event = expect_event(from, RDMA_CM_EVENT_ADDR_RESOLVED);
  std::atomic<bool> acknowledged{false};
  std::atomic<bool> early{false};
  {
    const BlockedCall migrate([&] {
      EXPECT_EQ(0, rdma_migrate_id(id.get(), to.get()));
      if (!acknowledged) early = true;
    });
    for (int round = 0; round < 20; ++round) make_resolved(from, "127.0.0.1", 7471);
    EXPECT_FALSE(migrate.done());
    acknowledged = true;
    event.reset();
  }
  EXPECT_FALSE(early);
  EXPECT_EQ(to.get(), id->channel);
}

TEST(MigrateId, ListenerTakesUnreadRequestsAlong) {
  const ChannelPtr from = make_channel();
  const ChannelPtr to = make_channel();
  const ChannelPtr active_channel = make_channel();
  const IdPtr listener = make_listener(from, "127.0.0.1");
  IdPtr active = make_resolved(active_channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_connect(active.get(), &parameter));
  await_event(from);
  active.reset();
  wait_for_background();
  ASSERT_EQ(0, rdma_migrate_id(listener.get(), to.get()));
  const EventPtr event = expect_event(to, RDMA_CM_EVENT_CONNECT_REQUEST);
  const IdPtr passive(event->id);
  EXPECT_EQ(to.get(), passive->channel);
  EXPECT_EQ(passive.get(), expect_event(to, RDMA_CM_EVENT_REJECTED)->id);
  EXPECT_FALSE(has_event(from));
}

TEST(MigrateId, NullMakesTheIdSynchronous) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  ASSERT_EQ(0, rdma_migrate_id(id.get(), nullptr));
  start_resolving(id);
  ASSERT_NE(nullptr, id->event);
  EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, id->event->event);
  EXPECT_NE(nullptr, id->verbs);
  ASSERT_EQ(0, rdma_migrate_id(id.get(), channel.get()));
  EXPECT_EQ(nullptr, id->event);
  ASSERT_EQ(0, rdma_resolve_route(id.get(), 1000));
  expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

TEST(EventNames, AreTheConstants) {
  EXPECT_STREQ("RDMA_CM_EVENT_ADDR_RESOLVED", rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED));
  EXPECT_STREQ("RDMA_CM_EVENT_TIMEWAIT_EXIT", rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

}  // namespace
}  // namespace softverbs::cm_test
