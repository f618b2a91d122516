#include "fuse/slot_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "common/memory_mapping.h"

namespace rdmablk::fuse {
namespace {

TEST(SlotPool, CutsMemoryIntoSlots) {
  const auto memory = MemoryMapping::anonymous(3 * kSlotSize);
  const initiator::MemoryKeys keys;
  SlotPool pool(memory.bytes(), &keys);
  EXPECT_EQ(pool.size(), 3U);
  std::set<std::byte*> seen;
  for (int i = 0; i < 3; ++i) {
    Slot* const slot = pool.take();
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->keys, &keys);
    EXPECT_EQ(slot->data, slot->payload());
    EXPECT_GE(slot->memory, memory.data());
    EXPECT_LE(slot->payload() + kMaxPayload, memory.data() + memory.size());
    EXPECT_TRUE(seen.insert(slot->memory).second);
  }
  EXPECT_EQ(pool.take(), nullptr);
  EXPECT_FALSE(pool.has_free());
  EXPECT_EQ(pool.taken(), 3U);
}

TEST(SlotPool, GivesTheLastOneOutFirst) {
  const auto memory = MemoryMapping::anonymous(2 * kSlotSize);
  SlotPool pool(memory.bytes(), nullptr);
  Slot* const first = pool.take();
  Slot* const second = pool.take();
  pool.give_back(*first);
  pool.give_back(*second);
  EXPECT_EQ(pool.taken(), 0U);
  EXPECT_EQ(pool.take(), second);
  EXPECT_EQ(pool.take(), first);
}

TEST(Slot, PayloadOfAWriteIsAlignedToAPage) {
  const auto memory = MemoryMapping::anonymous(kSlotSize);
  Slot slot;
  slot.memory = memory.data();
  EXPECT_EQ(slot.message() + sizeof(fuse_in_header) + sizeof(fuse_write_in), slot.payload());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot.payload()) % 4096, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot.message()) % alignof(fuse_in_header), 0U);
  EXPECT_EQ(slot.message() + Slot::kMessageRoom, memory.data() + kSlotSize);
}

}  // namespace
}  // namespace rdmablk::fuse
