// READs and WRITEs of memory that lies in a memfd, which the requester maps.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tests/softverbs/verbs/lent_memory.h"

namespace softverbs::test {
namespace {

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

// The region is a part of each of two pages.
TEST(MappedMemory, MayLieInHugePages) {
  constexpr size_t kHuge = 2 << 20;
  ChildProcess child([](Wire& wire) {
    End end(wire);
    std::fill(end.buffer.memory.begin(), end.buffer.memory.end(), 'h');
    EXPECT_EQ(end.write(0, kSize), IBV_WC_SUCCESS);
    EXPECT_EQ(mapped_with(), "rw-s");
  });
  const int fd = memfd_create(kSharedName, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
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
