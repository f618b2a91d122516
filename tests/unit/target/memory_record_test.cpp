#include "target/memory_record.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "error_of.h"
#include "sample_record.h"
#include "target/memory_identity.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;

class RecordMemoryTest : public ::testing::Test {
 protected:
  RecordMemory reopened() const { return RecordMemory(duplicate(memory_.fd())); }
  std::string fault() const {
    return error_of<Error>([&] { reopened(); });
  }
  /// Changes a byte of a slot.
  void damage(off_t offset) const {
    char byte = 0;
    ASSERT_EQ(::pread(memory_.fd(), &byte, 1, offset), 1);
    byte = static_cast<char>(byte ^ 1);
    ASSERT_EQ(::pwrite(memory_.fd(), &byte, 1, offset), 1);
  }

  MemoryRecord given_ = sample_record();
  RecordMemory memory_{given_};
};

TEST_F(RecordMemoryTest, IsThereForTheNextProcess) {
  given_.is_dirty = true;
  given_.huge_page = std::uint64_t{2} << 20;
  set_text(given_.changed, "12.5");
  memory_.update(given_);
  const RecordMemory after = reopened();
  EXPECT_EQ(text_of(after.record().name), "disk");
  EXPECT_EQ(after.record().size, given_.size);
  EXPECT_EQ(after.record().huge_page, given_.huge_page);
  EXPECT_EQ(after.record().memory, given_.memory);
  EXPECT_EQ(after.record().uuid, given_.uuid);
  EXPECT_EQ(after.record().generation, given_.generation);
  EXPECT_EQ(after.record().lease, given_.lease);
  EXPECT_EQ(text_of(after.record().changed), "12.5");
  EXPECT_TRUE(after.record().is_dirty);
  EXPECT_FALSE(after.record().is_suspect);
}

TEST_F(RecordMemoryTest, HasTheLastOfManyUpdates) {
  for (int i = 0; i < 5; ++i) {
    ++given_.lease;
    memory_.update(given_);
    EXPECT_EQ(reopened().record().lease, given_.lease);
  }
}

TEST_F(RecordMemoryTest, HasTheOneBeforeWhenAnUpdateWasCutOff) {
  ++given_.lease;
  memory_.update(given_);  // the second, in the first slot
  damage(100);
  EXPECT_EQ(reopened().record().lease, given_.lease - 1);
}

TEST_F(RecordMemoryTest, GoesOnAfterAnUpdateThatWasCutOff) {
  ++given_.lease;
  memory_.update(given_);
  damage(100);
  RecordMemory after = reopened();
  given_.lease = 99;
  after.update(given_);
  EXPECT_EQ(reopened().record().lease, 99U);
}

TEST_F(RecordMemoryTest, RefusesWhatIsDamaged) {
  for (const off_t offset : {0, 8, 100}) {
    damage(4096 + offset);  // the only one that was written
    EXPECT_THAT(fault(), HasSubstr("damaged")) << offset;
    damage(4096 + offset);
    EXPECT_EQ(fault(), "") << offset;
  }
}

TEST_F(RecordMemoryTest, RefusesWhatMakesNoSense) {
  for (const auto& spoil : std::initializer_list<void (*)(MemoryRecord&)>{
           [](MemoryRecord& record) { record.size = 0; },
           [](MemoryRecord& record) { record.size = UINT64_MAX - 511; },
           [](MemoryRecord& record) { record.kind = protocol::ExportKind::file; },
           [](MemoryRecord& record) { record.kind = static_cast<protocol::ExportKind>(7); },
           [](MemoryRecord& record) { record.lease = 0; },
           [](MemoryRecord& record) { set_text(record.name, "../x"); },
           [](MemoryRecord& record) { record.name.fill('x'); },
           [](MemoryRecord& record) { record.changed.fill('x'); }}) {
    MemoryRecord record = given_;
    spoil(record);
    memory_.update(record);
    EXPECT_THAT(fault(), HasSubstr("no")) << "sense";
  }
}

TEST_F(RecordMemoryTest, RefusesWhatIsNeitherTrueNorFalse) {
  for (bool MemoryRecord::*const field : {&MemoryRecord::is_dirty, &MemoryRecord::is_suspect,
                                          &MemoryRecord::is_resized, &MemoryRecord::is_unused}) {
    MemoryRecord record = given_;
    std::memset(&(record.*field), 2, 1);
    memory_.update(record);
    memory_.update(record);  // in both slots
    EXPECT_THAT(fault(), HasSubstr("damaged"));
  }
}

TEST_F(RecordMemoryTest, RefusesWhatIsNoMemfdOfOurs) {
  const auto fault_of = [](int fd) { return error_of<Error>([&] { RecordMemory{UniqueFd(fd)}; }); };
  EXPECT_EQ(fault_of(::open("/dev/null", O_RDWR | O_CLOEXEC)), "is no memfd");
  EXPECT_THAT(fault_of(::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING)), HasSubstr("sealed"));
}

TEST_F(RecordMemoryTest, CannotChangeItsSize) {
  EXPECT_NE(::ftruncate(memory_.fd(), 4096), 0);
  EXPECT_NE(::ftruncate(memory_.fd(), 3 * 4096), 0);
}

TEST_F(RecordMemoryTest, KeepsAnIdentity) {
  MemoryIdentity identity(memory_);
  EXPECT_EQ(identity.uuid(), given_.uuid);
  EXPECT_EQ(identity.generation(), given_.generation);
  EXPECT_EQ(identity.last_lease(), 41U);
  EXPECT_EQ(identity.next_lease(), 42U);
  EXPECT_EQ(reopened().record().lease, 42U);
  identity.mark_lost();
  EXPECT_NE(identity.generation(), given_.generation);
  EXPECT_EQ(reopened().record().generation, identity.generation());
}

}  // namespace
}  // namespace rdmablk::target
