#include "fuse/unsynced_writes.h"

#include <gtest/gtest.h>

namespace rdmablk::fuse {
namespace {

TEST(UnsyncedWrites, AreThoseBehindTheLastFlush) {
  UnsyncedWrites writes(2);
  EXPECT_FALSE(writes.any());
  writes.add(0);
  writes.add(1);
  EXPECT_TRUE(writes.any());
  const std::uint64_t covered = writes.count();
  writes.flushed(covered);
  EXPECT_FALSE(writes.any());
  writes.add(1);
  EXPECT_TRUE(writes.any());
}

TEST(UnsyncedWrites, AFlushDoesNotCoverWhatCameDuringIt) {
  UnsyncedWrites writes(2);
  writes.add(0);
  const std::uint64_t covered = writes.count();
  writes.add(1);
  writes.flushed(covered);
  EXPECT_TRUE(writes.any());
}

TEST(UnsyncedWrites, AnOlderFlushThatEndsLateTakesNothingBack) {
  UnsyncedWrites writes(1);
  writes.add(0);
  const std::uint64_t older = writes.count();
  writes.add(0);
  writes.flushed(writes.count());
  writes.flushed(older);
  EXPECT_FALSE(writes.any());
}

}  // namespace
}  // namespace rdmablk::fuse
