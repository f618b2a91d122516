// Addresses and ports: what resolves, what binds, what conflicts.

#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

int bind_to(const IdPtr& id, const std::string& host, uint16_t port) {
  sockaddr_storage local = address(host, port);
  return rdma_bind_addr(id.get(), generic(local)) == 0 ? 0 : errno;
}

void set_option(const IdPtr& id, int name) {
  int on = 1;
  ASSERT_EQ(0, rdma_set_option(id.get(), RDMA_OPTION_ID, name, &on, sizeof(on)));
}

int resolve(const IdPtr& id) {
  sockaddr_storage remote = address("127.0.0.1", 7471);
  return rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000) == 0 ? 0 : errno;
}

/// Locks ports as ids do that bind them: bytes of the network namespace's file.
class PortLocks {
 public:
  PortLocks() : file_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {}
  ~PortLocks() { ::close(file_); }
  PortLocks(const PortLocks&) = delete;
  PortLocks& operator=(const PortLocks&) = delete;

  void lock_all(rdma_port_space space) const {
    struct flock lock = of(space, 0, F_RDLCK);
    lock.l_len = 1U << 16U;
    ASSERT_EQ(0, ::fcntl(file_, F_OFD_SETLK, &lock));
  }
  [[nodiscard]] bool is_locked(rdma_port_space space, uint16_t port) const {
    struct flock lock = of(space, port, F_WRLCK);
    return ::fcntl(file_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  }

 private:
  static struct flock of(rdma_port_space space, uint16_t port, short type) {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t{space} << 16U) | port;
    lock.l_len = 1;
    return lock;
  }

  int file_;
};

/// Bytes that this process has read.
uint64_t bytes_read() {
  std::ifstream figures("/proc/self/io");
  std::string name;
  uint64_t value = 0;
  while (figures >> name >> value) {
    if (name == "rchar:") return value;
  }
  return 0;
}

class Resolve : public testing::TestWithParam<const char*> {};

TEST_P(Resolve, LocalAddressLeadsToTheDevice) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  sockaddr_storage remote = address(GetParam(), 7471);
  ASSERT_EQ(0, rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000));
  await_event(channel);
  EXPECT_EQ(nullptr, id->verbs) << "the device shows when the event is read, not before";
  EXPECT_EQ(0, expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED)->status);
  ASSERT_NE(nullptr, id->verbs);
  EXPECT_EQ(1, id->port_num);
  EXPECT_EQ(7471, ntohs(rdma_get_dst_port(id.get())));
  EXPECT_NE(0, rdma_get_src_port(id.get()));
  ASSERT_EQ(0, rdma_resolve_route(id.get(), 1000));
  expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  EXPECT_EQ(1, id->route.num_paths);
  ASSERT_NE(nullptr, id->route.path_rec);
}

INSTANTIATE_TEST_SUITE_P(Local, Resolve, testing::Values("127.0.0.1", "127.0.0.2", "::1"));

class Unreachable : public testing::TestWithParam<const char*> {};

TEST_P(Unreachable, OtherAddressesAreAnAddressError) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  sockaddr_storage remote = address(GetParam(), 7471);
  ASSERT_EQ(0, rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000));
  EXPECT_LT(expect_event(channel, RDMA_CM_EVENT_ADDR_ERROR)->status, 0);
  EXPECT_EQ(nullptr, id->verbs);
  // The id is bound still and may try another address.
  remote = address("127.0.0.1", 7471);
  if (remote.ss_family != address(GetParam()).ss_family) return;
  ASSERT_EQ(0, rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000));
  expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
}

INSTANTIATE_TEST_SUITE_P(Remote, Unreachable,
                         testing::Values("198.51.100.7", "2001:db8::7", "224.0.0.1",
                                         "255.255.255.255", "ff02::1"));

TEST(Address, CallsOutOfTurnAreInvalid) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  EXPECT_EQ(-1, rdma_resolve_route(id.get(), 1000));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(-1, rdma_listen(make_resolved(channel, "127.0.0.1", 1).get(), 1));
  EXPECT_EQ(EINVAL, errno);
  ASSERT_EQ(0, bind_to(id, "127.0.0.1", 0));
  EXPECT_EQ(EINVAL, bind_to(id, "127.0.0.1", 0)) << "bound twice";
  sockaddr unknown{};
  unknown.sa_family = AF_UNIX;
  EXPECT_EQ(-1, rdma_resolve_addr(id.get(), nullptr, &unknown, 1000));
  EXPECT_EQ(EINVAL, errno);
  sockaddr_storage other_family = address("::1", 1);
  EXPECT_EQ(-1, rdma_resolve_addr(id.get(), nullptr, generic(other_family), 1000));
  EXPECT_EQ(EINVAL, errno);
}

TEST(Bind, SpecificAddressHasADeviceAndAWildcardHasNone) {
  const ChannelPtr channel = make_channel();
  const IdPtr specific = make_listener(channel, "127.0.0.1");
  EXPECT_NE(nullptr, specific->verbs);
  EXPECT_NE(0, port_of(specific));
  const IdPtr wildcard = make_listener(channel, "0.0.0.0");
  EXPECT_EQ(nullptr, wildcard->verbs);
  EXPECT_NE(0, port_of(wildcard));
  EXPECT_NE(port_of(specific), port_of(wildcard));
}

TEST(Bind, ForeignAddressIsRefused) {
  const ChannelPtr channel = make_channel();
  EXPECT_EQ(ENODEV, bind_to(make_id(channel.get()), "198.51.100.7", 0));
  const IdPtr id = make_id(channel.get());
  sockaddr_storage source = address("198.51.100.7");
  sockaddr_storage remote = address("127.0.0.1", 7471);
  EXPECT_EQ(-1, rdma_resolve_addr(id.get(), generic(source), generic(remote), 1000));
  EXPECT_EQ(ENODEV, errno);
}

TEST(Bind, SameAddressTwiceIsInUse) {
  const ChannelPtr channel = make_channel();
  const IdPtr first = make_listener(channel, "127.0.0.1");
  EXPECT_EQ(EADDRINUSE, bind_to(make_id(channel.get()), "127.0.0.1", port_of(first)));
  EXPECT_EQ(0, bind_to(make_id(channel.get()), "127.0.0.2", port_of(first)));
  EXPECT_EQ(0, bind_to(make_id(channel.get(), nullptr, RDMA_PS_IB), "127.0.0.1", port_of(first)))
      << "another port space";
}

TEST(Bind, WildcardConflictsWithEverythingOnItsPort) {
  const ChannelPtr channel = make_channel();
  const IdPtr specific = make_listener(channel, "127.0.0.1");
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "0.0.0.0", port_of(specific)));
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "::", port_of(specific)));
  const IdPtr wildcard = make_listener(channel, "0.0.0.0");
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "0.0.0.0", port_of(wildcard)));
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "127.0.0.1", port_of(wildcard)));
}

TEST(Bind, FamiliesAreApartWhenBothSaySo) {
  const ChannelPtr channel = make_channel();
  const IdPtr four = make_id(channel.get());
  set_option(four, RDMA_OPTION_ID_AFONLY);
  ASSERT_EQ(0, bind_to(four, "0.0.0.0", 0));
  const IdPtr six = make_id(channel.get());
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(six, "::", port_of(four)));
  set_option(six, RDMA_OPTION_ID_AFONLY);
  EXPECT_EQ(0, bind_to(six, "::", port_of(four)));
}

TEST(Bind, ReusedAddressesBindButOnlyOneListens) {
  const ChannelPtr channel = make_channel();
  const IdPtr first = make_id(channel.get());
  const IdPtr second = make_id(channel.get());
  set_option(first, RDMA_OPTION_ID_REUSEADDR);
  set_option(second, RDMA_OPTION_ID_REUSEADDR);
  ASSERT_EQ(0, bind_to(first, "127.0.0.1", 0));
  ASSERT_EQ(0, bind_to(second, "127.0.0.1", port_of(first)));
  EXPECT_EQ(-1, rdma_listen(second.get(), 1));
  EXPECT_EQ(EADDRINUSE, errno);
}

TEST(Bind, PortIsFreeOnceItsIdIsDestroyedEvenUnderConnections) {
  Pair pair;
  pair.connect();
  const uint16_t port = port_of(pair.listener);
  EXPECT_EQ(port, ntohs(rdma_get_src_port(pair.passive.get())));
  EXPECT_EQ(port, ntohs(rdma_get_dst_port(pair.active.get())));
  EXPECT_EQ(rdma_get_src_port(pair.active.get()), rdma_get_dst_port(pair.passive.get()));
  pair.listener.reset();
  EXPECT_EQ(0, bind_to(make_id(pair.passive_channel.get()), "127.0.0.1", port));
  EXPECT_EQ(0, bind_to(make_id(pair.passive_channel.get()), "0.0.0.0", port));
}

TEST(Connecting, PortIsTheIdsAlone) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", 1);
  const uint16_t port = ntohs(rdma_get_src_port(id.get()));
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "127.0.0.1", port));
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "::1", port));
  EXPECT_EQ(EADDRNOTAVAIL, bind_to(make_id(channel.get()), "0.0.0.0", port));
}

// In the port space that nobody else uses: this keeps all of the host from connecting in it.
TEST(Connecting, TakesNoPortThatIsLocked) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get(), nullptr, RDMA_PS_IB);
  {
    const PortLocks locks;
    locks.lock_all(RDMA_PS_IB);
    EXPECT_EQ(EADDRINUSE, resolve(id));
  }
  EXPECT_EQ(0, resolve(id));
}

TEST(Connecting, PortsThatAreBoundAreLockedUntilTheLastIdIsGone) {
  const PortLocks locks;
  const ChannelPtr channel = make_channel();
  IdPtr listener = make_listener(channel, "127.0.0.1");
  const uint16_t port = port_of(listener);
  IdPtr bound = make_id(channel.get());
  ASSERT_EQ(0, bind_to(bound, "127.0.0.2", port));
  EXPECT_TRUE(locks.is_locked(RDMA_PS_TCP, port));
  EXPECT_FALSE(locks.is_locked(RDMA_PS_IPOIB, port)) << "a space in which no id can be";
  listener.reset();
  EXPECT_TRUE(locks.is_locked(RDMA_PS_TCP, port));
  bound.reset();
  EXPECT_FALSE(locks.is_locked(RDMA_PS_TCP, port));
}

// The table of the host's sockets has a line for each, of 60 bytes at least.
TEST(Connecting, ReadsNoTable) {
  if (bytes_read() == 0) GTEST_SKIP() << "the kernel does not count what is read";
  constexpr int kOthers = 100;
  const ChannelPtr channel = make_channel();
  std::vector<IdPtr> others;
  for (int i = 0; i < kOthers; ++i) {
    others.push_back(make_id(channel.get()));
    ASSERT_EQ(0, resolve(others.back()));
  }
  const IdPtr id = make_id(channel.get());
  const uint64_t before = bytes_read();
  ASSERT_EQ(0, resolve(id));
  EXPECT_LT(bytes_read() - before, kOthers * 60U);
}

TEST(Options, SizesAndStatesAreChecked) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  uint8_t byte = 5;
  int number = 1;
  EXPECT_EQ(0, rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, 1));
  EXPECT_EQ(-1, rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &number, 4));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(0, rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1));
  EXPECT_EQ(-1, rdma_set_option(id.get(), RDMA_OPTION_ID, 99, &byte, 1));
  EXPECT_EQ(ENOSYS, errno);
  const IdPtr listener = make_listener(channel, "127.0.0.1");
  EXPECT_EQ(-1, rdma_set_option(listener.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number,
                                sizeof(number)));
  EXPECT_EQ(EINVAL, errno);
}

TEST(Devices, ListIsTerminatedAndTheContextsAreThoseOfTheIds) {
  int count = 0;
  ibv_context** list = rdma_get_devices(&count);
  ASSERT_NE(nullptr, list);
  ASSERT_GE(count, 1);
  EXPECT_EQ(nullptr, list[count]);
  const ChannelPtr channel = make_channel();
  EXPECT_EQ(list[0], make_listener(channel, "127.0.0.1")->verbs);
  rdma_free_devices(list);
}

TEST(AddressInfo, PassiveAndActiveSides) {
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  hints.ai_flags = RAI_PASSIVE | RAI_NUMERICHOST;
  rdma_addrinfo* found = nullptr;
  ASSERT_EQ(0, rdma_getaddrinfo("127.0.0.1", "7471", &hints, &found));
  EXPECT_NE(nullptr, found->ai_src_addr);
  EXPECT_EQ(nullptr, found->ai_dst_addr);
  EXPECT_EQ(IBV_QPT_RC, found->ai_qp_type);
  rdma_freeaddrinfo(found);

  sockaddr_storage source = address("127.0.0.2");
  hints.ai_flags = RAI_NUMERICHOST;
  hints.ai_src_addr = generic(source);
  hints.ai_src_len = sizeof(sockaddr_in);
  ASSERT_EQ(0, rdma_getaddrinfo("127.0.0.1", "7471", &hints, &found));
  EXPECT_NE(nullptr, found->ai_src_addr);
  ASSERT_NE(nullptr, found->ai_dst_addr);
  EXPECT_EQ(7471, ntohs(reinterpret_cast<sockaddr_in*>(found->ai_dst_addr)->sin_port));
  EXPECT_EQ(RDMA_PS_TCP, found->ai_port_space);
  rdma_freeaddrinfo(found);
  EXPECT_NE(0, rdma_getaddrinfo("not a number", "7471", &hints, &found));
  EXPECT_NE(0, rdma_getaddrinfo(nullptr, nullptr, nullptr, &found));
}

}  // namespace
}  // namespace softverbs::cm_test
