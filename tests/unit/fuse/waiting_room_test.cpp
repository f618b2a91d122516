#include "fuse/waiting_room.h"

#include <gtest/gtest.h>

#include <vector>

namespace rdmablk::fuse {
namespace {

using initiator::Operation;

/// A request that waits, and could be told from others.
Slot& enter(WaitingRoom& room, std::uint64_t number, Operation operation = Operation::read) {
  Slot& place = *room.take();
  place.operation = operation;
  place.number = number;
  place.offset = 100 + number;
  place.length = 10;
  place.payload()[9] = std::byte{static_cast<unsigned char>(number)};
  room.push(place);
  return place;
}

struct RealSlot {
  std::vector<std::byte> memory = std::vector<std::byte>(kSlotSize);
  Slot slot;
  RealSlot() { slot.memory = memory.data(); }
};

TEST(WaitingRoom, IsLeftInOrder) {
  WaitingRoom room;
  RealSlot real;
  EXPECT_TRUE(room.empty());
  enter(room, 1, Operation::write);
  enter(room, 2);
  room.move_first(real.slot);
  EXPECT_EQ(real.slot.number, 1U);
  EXPECT_EQ(real.slot.operation, Operation::write);
  EXPECT_EQ(real.slot.offset, 101U);
  EXPECT_EQ(real.slot.length, 10U);
  EXPECT_EQ(real.slot.payload()[9], std::byte{1}) << "the data of a write";
  room.move_first(real.slot);
  EXPECT_EQ(real.slot.number, 2U);
  EXPECT_TRUE(room.empty());
}

TEST(WaitingRoom, LetsOneGoFromTheMiddle) {
  WaitingRoom room;
  RealSlot real;
  for (const std::uint64_t number : {1, 2, 3}) enter(room, number);
  EXPECT_EQ(room.remove(4), nullptr);
  Slot* const found = room.remove(2);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->number, 2U);
  EXPECT_EQ(room.remove(2), nullptr);
  room.move_first(real.slot);
  EXPECT_EQ(real.slot.number, 1U);
  room.move_first(real.slot);
  EXPECT_EQ(real.slot.number, 3U);
}

TEST(WaitingRoom, HasItsPlacesAgain) {
  WaitingRoom room;
  std::vector<Slot*> places;
  while (Slot* const place = room.take()) places.push_back(place);
  EXPECT_EQ(places.size(), WaitingRoom::kPlaces);
  EXPECT_FALSE(room.has_free());
  for (Slot* const place : places) room.give_back(*place);
  EXPECT_TRUE(room.has_free());
}

TEST(WaitingRoom, KnowsItsOwn) {
  WaitingRoom room;
  const RealSlot real;
  EXPECT_TRUE(room.owns(*room.take()));
  EXPECT_FALSE(room.owns(real.slot));
}

}  // namespace
}  // namespace rdmablk::fuse
