#include "target/inherited_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error_of.h"
#include "sample_record.h"
#include "scratch_directory.h"
#include "target/file_fingerprint.h"
#include "target/memory_backing.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class InheritedMemoryTest : public ::testing::Test {
 protected:
  void add_memory(const std::string& name = "disk") {
    inherited_.add("memory-" + name, duplicate(memory_.fd()), true);
  }
  void add_record(const std::string& name = "disk") {
    const RecordMemory record(record_);
    inherited_.add("identity-" + name, duplicate(record.fd()), true);
  }
  void check(const std::string& spec) {
    inherited_.check(parse_export_specs({"other=memory:1M", spec}));
  }
  std::string refusal(const std::string& spec = "disk=memory:1M") {
    return error_of<Error>([&] { check(spec); });
  }

  MemoryRecord record_ = sample_record();
  MemoryBacking memory_{"disk", record_.size, 0};
  InheritedMemory inherited_;
};

TEST_F(InheritedMemoryTest, HasWhatWasLeft) {
  memory_.bytes()[77] = std::byte{0x5a};
  add_record();
  add_memory();
  check("disk=memory:1M,chunk=64K");
  EXPECT_FALSE(inherited_.take("other"));
  auto kept = inherited_.take("disk");
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->in_store);
  EXPECT_EQ(kept->record.record().uuid, record_.uuid);
  const MemoryBacking again("disk", std::move(kept->memory), record_.size, 0, record_.size);
  EXPECT_EQ(again.bytes()[77], std::byte{0x5a});
  EXPECT_FALSE(inherited_.take("disk"));
}

TEST_F(InheritedMemoryTest, CanBeCheckedAgain) {
  add_memory();
  add_record();
  check("disk=memory:1M");
  check("disk=memory:1M");
  EXPECT_TRUE(inherited_.take("disk"));
}

TEST_F(InheritedMemoryTest, RefusesHalves) {
  add_memory();
  EXPECT_THAT(refusal(), AllOf(HasSubstr("'disk'"), HasSubstr("without its identity"),
                               HasSubstr("--discard disk")));
  EXPECT_TRUE(inherited_.discard("disk"));
  EXPECT_FALSE(inherited_.discard("disk"));
  add_record();
  EXPECT_THAT(refusal(), HasSubstr("only its identity"));
}

TEST_F(InheritedMemoryTest, RefusesToDropWhatIsNotConfigured) {
  add_memory();
  add_record();
  EXPECT_THAT(refusal("disc=memory:1M"), HasSubstr("there is no such export now"));
  EXPECT_THAT(refusal("disk=memory:2M"), AllOf(HasSubstr("1 MiB"), HasSubstr("2 MiB")));
  EXPECT_THAT(refusal("disk=memory:1M,huge=2M"), HasSubstr("huge pages of 2 MiB"));
  EXPECT_THAT(refusal("disk=file:/a,resident"), HasSubstr("it was memory"));
  EXPECT_THAT(refusal("disk=file:/a"), HasSubstr("it was memory"));
  EXPECT_EQ(refusal(), "");
}

TEST_F(InheritedMemoryTest, DropsWhatIsNotConfiguredOnlyWhenAFileHasIt) {
  const auto specs = parse_export_specs({"other=memory:1M"});
  for (const bool is_dirty : {false, true}) {
    for (const bool was_in_file : {false, true}) {
      record_.is_dirty = is_dirty;
      set_text(record_.changed, was_in_file ? "1.000000001" : "");
      add_memory();
      add_record();
      if (!is_dirty && was_in_file) {
        EXPECT_THAT(inherited_.check(specs), ElementsAre("disk"));
        EXPECT_FALSE(inherited_.has("disk"));
      } else {
        EXPECT_THAT(error_of<Error>([&] { inherited_.check(specs); }),
                    HasSubstr("there is no such export now"));
        EXPECT_TRUE(inherited_.discard("disk"));
      }
    }
  }
  record_.is_dirty = false;
  add_memory();
  add_record();
  EXPECT_THAT(inherited_.check(parse_export_specs({"disk=memory:1M"})), IsEmpty());
  EXPECT_TRUE(inherited_.has("disk"));
}

TEST_F(InheritedMemoryTest, RefusesMemoryThatBelongsToAnotherFile) {
  const ScratchDirectory scratch;
  const auto a = scratch.make("a", record_.size);
  const auto b = scratch.make("b", record_.size);
  record_.kind = protocol::ExportKind::resident;
  record_.is_dirty = true;
  record_.backing = fingerprint_of(a).derive_uuid({});
  add_memory();
  add_record();
  EXPECT_THAT(refusal("disk=file:" + b + ",resident"), HasSubstr("another file than " + b));
  EXPECT_THAT(refusal("disk=file:" + a + ",resident,readonly"), HasSubstr("read-only"));
  EXPECT_THAT(refusal(), HasSubstr("it was a resident file"));
  EXPECT_EQ(refusal("disk=file:" + a + ",resident"), "");
}

TEST_F(InheritedMemoryTest, RefusesPairsThatDoNotMatch) {
  record_.size = 2 * record_.size;
  add_memory();
  add_record();
  EXPECT_THAT(refusal("disk=memory:2M"), HasSubstr("not what its identity says"));
  inherited_.discard("disk");
  record_.size /= 2;
  record_.huge_page = std::uint64_t{2} << 20;
  add_memory();
  add_record();
  EXPECT_THAT(refusal("disk=memory:1M,huge=2M"), HasSubstr("not what its identity says"));
  inherited_.discard("disk");
  record_.huge_page = 0;
  add_memory("other");
  add_record("other");
  EXPECT_THAT(refusal(), HasSubstr("its identity is that of 'disk'"));
}

TEST_F(InheritedMemoryTest, RefusesWhatIsNoSealedMemfd) {
  inherited_.add("memory-disk", UniqueFd(::open("/dev/zero", O_RDWR | O_CLOEXEC)), true);
  add_record();
  EXPECT_THAT(refusal(), HasSubstr("no memfd"));
  inherited_.discard("disk");
  UniqueFd open(::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open.get(), 1 << 20), 0);
  inherited_.add("memory-disk", std::move(open), true);
  add_record();
  EXPECT_THAT(refusal(), HasSubstr("not sealed"));
  inherited_.discard("disk");
  add_memory();
  inherited_.add("identity-disk", UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC)), true);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("identity is no memfd"), Not(HasSubstr("\n"))));
}

TEST_F(InheritedMemoryTest, RefusesOtherDescriptors) {
  for (const char* name : {"", "memory", "memory-", "memory-../x", "socket", "identity-"}) {
    EXPECT_THROW(inherited_.add(name, duplicate(memory_.fd()), true), Error) << name;
  }
  add_memory();
  EXPECT_THROW(add_memory(), Error);
  EXPECT_EQ(memory_fd_name("a"), "memory-a");
  EXPECT_EQ(record_fd_name("a"), "identity-a");
}

}  // namespace
}  // namespace rdmablk::target
