// READs and WRITEs of memory that cannot be mapped safely: the kernel copies.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/softverbs/verbs/lent_memory.h"

namespace softverbs::test {
namespace {

// The library reads its environment once a process, so this is a run of its own.
TEST(CopiedMemory, WhenTheEnvironmentSaysSo) {
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

TEST(CopiedMemory, WhenItsFileMayShrink) {
  Kind kind;
  kind.seals = F_SEAL_GROW;
  expect_copied_by_the_kernel(kind);
}

TEST(CopiedMemory, WhenItIsPrivate) {
  Kind kind;
  kind.sharing = MAP_PRIVATE;
  expect_copied_by_the_kernel(kind);
}

TEST(CopiedMemory, WhenItsDescriptorIsClosed) {
  Kind kind;
  kind.keeps_descriptor = false;
  expect_copied_by_the_kernel(kind);
}

TEST(CopiedMemory, WhenTheFileIsOutOfOrder) {
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
TEST(CopiedMemory, WhenItMayOutliveItsOwner) {
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

}  // namespace
}  // namespace softverbs::test
