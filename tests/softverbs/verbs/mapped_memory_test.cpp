// READs and WRITEs of memory that lies in a memfd, which the requester maps.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

constexpr size_t kSize = 1 << 20;
constexpr size_t kPage = 4096;
constexpr const char* kName = "softverbs-mapped-test";

/// How memory is made.
struct Kind {
  int seals = F_SEAL_SHRINK;
  int sharing = MAP_SHARED;
  size_t file_offset = 0;
  bool keeps_descriptor = true;
  bool in_two_pieces = false;
};

/// Memory in a memfd.
class SharedMemory {
 public:
  explicit SharedMemory(const Kind& kind = {}) {
    fd_ = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(kind.file_offset + kSize)), 0);
    EXPECT_EQ(fcntl(fd_, F_ADD_SEALS, kind.seals), 0);
    map(kind);
    if (!kind.keeps_descriptor) close(std::exchange(fd_, -1));
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    munmap(data_, kSize);
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] char* data() const { return data_; }

 private:
  void map(const Kind& kind) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    const auto offset = static_cast<off_t>(kind.file_offset);
    data_ = static_cast<char*>(mmap(nullptr, kSize, kProtection, kind.sharing, fd_, offset));
    ASSERT_NE(data_, MAP_FAILED);
    if (!kind.in_two_pieces) return;
    // The second half shows the first half of the file again.
    const size_t half = kSize / 2;
    ASSERT_NE(mmap(data_ + half, half, kProtection, kind.sharing | MAP_FIXED, fd_, offset),
              MAP_FAILED);
  }

  int fd_ = -1;
  char* data_ = nullptr;
};

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
std::string mapped_with() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(kName) != std::string::npos) return line.substr(line.find(' ') + 1, 4);
  }
  return {};
}

bool becomes_unmapped() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!mapped_with().empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return mapped_with().empty();
}

/// A responder that makes memory and waits. Each byte it sends says that it has done something.
ChildProcess make_responder(const Kind& kind = {}, int access = kAllAccess,
                            const std::function<void(Wire&, End&, SharedMemory&)>& after = {}) {
  return ChildProcess([=](Wire& wire) {
    SharedMemory memory(kind);
    std::fill_n(memory.data(), kSize, 'm');
    End end(wire, memory.data(), kSize, access);
    wire.receive<char>();
    if (after) after(wire, end, memory);
  });
}

TEST(MappedMemory, IsReadAndWrittenInPlace) {
  ChildProcess child = make_responder({}, kAllAccess, [](Wire&, End&, SharedMemory& memory) {
    EXPECT_EQ(std::count(memory.data(), memory.data() + kSize, 'm'), kSize - 10);
    EXPECT_EQ(std::string_view(memory.data() + kPage - 5, 10), "wwwwwwwwww");
  });
  End end(child.wire());
  EXPECT_EQ(mapped_with(), "");
  EXPECT_EQ(end.read(0, kSize), IBV_WC_SUCCESS);
  EXPECT_EQ(end.buffer.memory, std::vector<char>(kSize, 'm'));
  std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'w');
  EXPECT_EQ(end.write(kPage - 5, 10), IBV_WC_SUCCESS);
  EXPECT_EQ(mapped_with(), "rw-s");
  EXPECT_EQ(end.read(1, kSize), IBV_WC_REM_ACCESS_ERR);
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

/// Page faults of this thread that took no disk.
long faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

// One fault maps many pages, which it does by itself only where it is for reading.
TEST(MappedMemory, IsWrittenForTheFirstTimeWithFewFaults) {
  ChildProcess child = make_responder();
  const End end(child.wire());
  EXPECT_EQ(end.write(0, 1), IBV_WC_SUCCESS);
  const long before = faults();
  EXPECT_EQ(end.write(kSize / 2, kSize / 2), IBV_WC_SUCCESS);
  EXPECT_LT(faults() - before, static_cast<long>(kSize / 2 / kPage / 4));
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

// The library reads its environment once a process, so this is a run of its own.
TEST(MappedMemory, IsCopiedByTheKernelWhenTheEnvironmentSaysSo) {
  const char* copy = std::getenv("SOFTVERBS_COPY");
  if (copy == nullptr || copy != std::string_view("process_vm")) GTEST_SKIP() << "it does not";
  ChildProcess child([](Wire& wire) {
    const End end(wire);
    EXPECT_EQ(end.read(0, kSize), IBV_WC_SUCCESS);
    EXPECT_EQ(end.buffer.memory, std::vector<char>(kSize, 'm'));
    EXPECT_EQ(mapped_with(), "");
  });
  const SharedMemory memory;
  std::fill_n(memory.data(), kSize, 'm');
  const End end(child.wire(), memory.data());
  EXPECT_EQ(child.join(), 0);
}

// The region begins anywhere in the file, and at any byte.
TEST(MappedMemory, BeginsAnywhereInItsFile) {
  ChildProcess child([](Wire& wire) {
    Kind kind;
    kind.file_offset = 5 * kPage;
    const SharedMemory memory(kind);
    for (size_t i = 0; i < kSize; ++i) memory.data()[i] = static_cast<char>(i / kPage);
    constexpr size_t kSkipped = 2 * kPage + 7;
    const End end(wire, memory.data() + kSkipped, kSize - kSkipped);
    wire.receive<char>();
  });
  const End end(child.wire());
  EXPECT_EQ(end.read(0, 2 * kPage), IBV_WC_SUCCESS);
  EXPECT_NE(mapped_with(), "");
  EXPECT_EQ(end.buffer.memory[0], 2);
  EXPECT_EQ(end.buffer.memory[kPage - 8], 2);
  EXPECT_EQ(end.buffer.memory[kPage - 7], 3);
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(MappedMemory, IsMappedForReadingOnlyWhereNobodyMayWrite) {
  ChildProcess child = make_responder({}, IBV_ACCESS_REMOTE_READ);
  const End end(child.wire());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_SUCCESS);
  EXPECT_EQ(mapped_with(), "r--s");
  EXPECT_EQ(end.write(0, kPage), IBV_WC_REM_ACCESS_ERR);
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

// What cannot be mapped safely is copied by the kernel.
void expect_copied_by_the_kernel(const Kind& kind) {
  ChildProcess child = make_responder(kind, kAllAccess, [](Wire&, End&, SharedMemory& memory) {
    EXPECT_EQ(memory.data()[0], 'w');
    EXPECT_EQ(memory.data()[1], 'm');
  });
  End end(child.wire());
  EXPECT_EQ(end.read(0, kSize), IBV_WC_SUCCESS);
  EXPECT_EQ(end.buffer.memory, std::vector<char>(kSize, 'm'));
  end.buffer.memory[0] = 'w';
  EXPECT_EQ(end.write(0, 1), IBV_WC_SUCCESS);
  EXPECT_EQ(mapped_with(), "");
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(MappedMemory, IsCopiedByTheKernelWhenItsFileMayShrink) {
  Kind kind;
  kind.seals = F_SEAL_GROW;
  expect_copied_by_the_kernel(kind);
}

TEST(MappedMemory, IsCopiedByTheKernelWhenItIsPrivate) {
  Kind kind;
  kind.sharing = MAP_PRIVATE;
  expect_copied_by_the_kernel(kind);
}

TEST(MappedMemory, IsCopiedByTheKernelWhenItsDescriptorIsClosed) {
  Kind kind;
  kind.keeps_descriptor = false;
  expect_copied_by_the_kernel(kind);
}

TEST(MappedMemory, IsCopiedByTheKernelWhenTheFileIsOutOfOrder) {
  Kind kind;
  kind.in_two_pieces = true;
  ChildProcess child = make_responder(kind);
  const End end(child.wire());
  EXPECT_EQ(end.write(kSize / 2, kPage), IBV_WC_SUCCESS);
  EXPECT_EQ(mapped_with(), "");
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

// A copy that is under way when its owner is killed would end in the next owner's memory.
TEST(MappedMemory, IsCopiedByTheKernelWhenItMayOutliveItsOwner) {
  ChildProcess child([](Wire& wire) {
    setenv("NOTIFY_SOCKET", "/none", 1);
    const SharedMemory memory;
    const End end(wire, memory.data());
    wire.receive<char>();
  });
  const End end(child.wire());
  EXPECT_EQ(end.write(0, kPage), IBV_WC_SUCCESS);
  EXPECT_EQ(mapped_with(), "");
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(MappedMemory, IsMappedAfterItsProgramClosedTheDescriptor) {
  ChildProcess child([](Wire& wire) {
    const SharedMemory memory;
    End end(wire, memory.data());
    close(memory.fd());
    wire.send('c');
    wire.receive<char>();
  });
  const End end(child.wire());
  child.wire().receive<char>();
  EXPECT_EQ(end.read(0, kPage), IBV_WC_SUCCESS);
  EXPECT_NE(mapped_with(), "");
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

// As a device has the pages that were there at registration.
TEST(MappedMemory, StaysWhatItWasWhenItsOwnerUnmapsIt) {
  ChildProcess child([](Wire& wire) {
    const SharedMemory memory;
    std::fill_n(memory.data(), kSize, 'm');
    End end(wire, memory.data());
    ASSERT_EQ(mmap(memory.data(), kSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              memory.data());
    wire.send('u');
    wire.receive<char>();
  });
  const End end(child.wire());
  child.wire().receive<char>();
  EXPECT_EQ(end.read(0, kSize), IBV_WC_SUCCESS);
  EXPECT_EQ(end.buffer.memory, std::vector<char>(kSize, 'm'));
  child.wire().send('d');
  EXPECT_EQ(child.join(), 0);
}

TEST(MappedMemory, IsLetGoWhenItsOwnerDeregistersIt) {
  ChildProcess child = make_responder({}, kAllAccess, [](Wire& wire, End& end, SharedMemory&) {
    end.region.reset();
    wire.send('g');
    wire.receive<char>();
  });
  const End end(child.wire());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_SUCCESS);
  EXPECT_NE(mapped_with(), "");
  child.wire().send('d');
  child.wire().receive<char>();
  EXPECT_TRUE(becomes_unmapped());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_REM_ACCESS_ERR);
  child.wire().send('e');
  EXPECT_EQ(child.join(), 0);
}

TEST(MappedMemory, IsLetGoWhenItsOwnerDies) {
  ChildProcess child = make_responder();
  const End end(child.wire());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_SUCCESS);
  EXPECT_NE(mapped_with(), "");
  child.kill();
  EXPECT_TRUE(becomes_unmapped());
  EXPECT_EQ(end.read(0, kPage), IBV_WC_RETRY_EXC_ERR);
}

// Who knows of the death finds nothing written by then that was not written before.
TEST(MappedMemory, IsNotReachedOnceItsOwnerIsDead) {
  const SharedMemory memory;
  std::deque<ChildProcess> children;
  for (int round = 0; round < 20; ++round) {
    children.emplace_back([&](Wire& wire) {
      const End end(wire, memory.data());
      wire.receive<char>();
    });
  }
  for (ChildProcess& child : children) {
    const End end(child.wire());
    ASSERT_EQ(end.write(0, kPage), IBV_WC_SUCCESS);
    child.kill();
    EXPECT_EQ(end.write(0, kPage), IBV_WC_RETRY_EXC_ERR);
  }
}

// Other regions take the places of regions that are gone.
TEST(MappedMemory, MayBeReplacedByOther) {
  constexpr int kRounds = 600;
  ChildProcess child([](Wire& wire) {
    const SharedMemory memory;
    const End end(wire);
    for (int i = 0; i < kRounds; ++i) {
      const size_t offset = static_cast<size_t>(i % 4) * 64 * 1024;
      const Owned<ibv_mr> region(
          ibv_reg_mr(end.endpoint.pd, memory.data() + offset, kSize - offset, kAllAccess));
      memory.data()[offset] = static_cast<char>(i);
      Address address;
      address.memory = reinterpret_cast<uint64_t>(memory.data()) + offset;
      address.rkey = region->rkey;
      wire.send(address);
      wire.receive<char>();
    }
  });
  End end(child.wire());
  for (int i = 0; i < kRounds; ++i) {
    end.peer = child.wire().receive<Address>();
    ASSERT_EQ(end.read(0, 1), IBV_WC_SUCCESS);
    ASSERT_EQ(end.buffer.memory[0], static_cast<char>(i));
    child.wire().send('n');
  }
  EXPECT_EQ(child.join(), 0);
  EXPECT_TRUE(becomes_unmapped());
}

// A requester writes without pause; the responder revokes its access and scribbles over the
// memory. Nothing of the requester's may appear there afterwards.
void expect_fence(const std::function<void(End&)>& revoke) {
  std::deque<ChildProcess> children;
  for (int round = 0; round < 5; ++round) {
    children.emplace_back([](Wire& wire) {
      End end(wire);
      std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'w');
      ibv_wc_status status = IBV_WC_SUCCESS;
      for (int i = 0; status == IBV_WC_SUCCESS; ++i) {
        status = end.write(0, kSize);
        if (i != 1) continue;
        EXPECT_NE(mapped_with(), "");
        wire.send('s');
      }
      wire.send(status);
    });
  }
  for (ChildProcess& child : children) {
    const SharedMemory memory;
    End end(child.wire(), memory.data());
    child.wire().receive<char>();
    revoke(end);
    std::fill_n(memory.data(), kSize, '0');
    EXPECT_NE(child.wire().receive<ibv_wc_status>(), IBV_WC_SUCCESS);
    EXPECT_EQ(std::count(memory.data(), memory.data() + kSize, '0'), kSize);
    EXPECT_EQ(child.join(), 0);
  }
}

TEST(MappedMemory, IsFencedByDeregistration) {
  expect_fence([](End& end) { end.region.reset(); });
}

TEST(MappedMemory, IsFencedByDestruction) {
  expect_fence([](End& end) { end.endpoint.qp.reset(); });
}

// The region is a part of each of two pages.
TEST(MappedMemory, MayLieInHugePages) {
  constexpr size_t kHuge = 2 << 20;
  ChildProcess child([](Wire& wire) {
    End end(wire);
    std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'h');
    EXPECT_EQ(end.write(0, kSize), IBV_WC_SUCCESS);
    EXPECT_EQ(mapped_with(), "rw-s");
  });
  const int fd = memfd_create(kName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (fd < 0 || ftruncate(fd, 2 * kHuge) != 0) GTEST_SKIP() << "there are no huge pages";
  ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  void* memory = mmap(nullptr, 2 * kHuge, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "there are no huge pages free";
  char* start = static_cast<char*>(memory) + kHuge - kSize / 2;
  {
    const End end(child.wire(), start, kSize);
    EXPECT_EQ(child.join(), 0);
  }
  EXPECT_EQ(std::count(start, start + kSize, 'h'), kSize);
  munmap(memory, 2 * kHuge);
  close(fd);
}

}  // namespace
}  // namespace softverbs::test
