// Exports that outlive the process that serves them, whatever becomes of their sizes and of what
// they are configured with: by their memory, by what was saved of it, or by both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/error.h"
#include "export_changes_fixture.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// One target after the other, with a store as that of a service manager.
class KeptExportsTest : public ExportChangesTest {
 protected:
  KeptExportsTest() {
    changes_.reset();
    exports_.reset();
  }

  /// Starts a target. @return the exports whose memory it let go of. Throws Error.
  std::vector<std::string> start(const std::vector<std::string>& specs,
                                 const std::vector<std::string>& discards = {}) {
    InheritedMemory inherited;
    for (const KeptMemory& one : stored_) {
      const std::string name = text_of(one.record.record().name);
      inherited.add(memory_fd_name(name), UniqueFd(::dup(one.memory.get())), true);
      inherited.add(record_fd_name(name), UniqueFd(::dup(one.record.fd())), true);
    }
    for (const std::string& name : discards) inherited.discard(name);
    options_.exports = parse_export_specs(specs);
    auto dropped = inherited.check(options_.exports);
    exports_ =
        std::make_unique<Exports>(io_, options_, std::move(inherited),
                                  select_devices(managers_, test_address(), ""), service_manager_);
    exports_->begin();
    stored_.clear();
    return dropped;
  }
  /// @return why it does not start.
  std::string refusal(const std::vector<std::string>& specs) {
    try {
      start(specs);
    } catch (const Error& error) {
      return error.what();
    }
    return "it starts";
  }

  /// The target ends in order.
  void stop() {
    EXPECT_THAT(exports_->settle(io_), IsEmpty());
    kill();
  }
  /// The target is gone, and was asked nothing.
  void kill() {
    exports_->end_threads();
    stored_ = exports_->release_memory();
    exports_.reset();
  }
  /// The service is stopped, so that nothing keeps memory.
  void empty_store() { stored_.clear(); }

  void resize(std::uint64_t size) {
    Export& disk = *exports_->find("disk");
    const bool shrinks = size < disk.spec().size;
    disk.prepare_resize(size);
    disk.publish_resize();
    exports_->update_offers(disk);
    disk.editions().take_unused();
    if (shrinks) disk.cut();
  }

  std::uint64_t size() const { return exports_->find("disk")->spec().size; }
  protocol::Generation generation() const {
    return exports_->find("disk")->identity().generation();
  }

  /// As somebody who has the lease.
  void write(std::uint64_t offset, char value) {
    ASSERT_LT(offset, size());
    ASSERT_TRUE(offer("disk")->lease->grant({}));
    ASSERT_EQ(::pwrite(fd(), &value, 1, static_cast<off_t>(offset)), 1);
  }
  char read(std::uint64_t offset) const {
    char value = '?';
    EXPECT_LT(offset, size());
    EXPECT_EQ(::pread(fd(), &value, 1, static_cast<off_t>(offset)), 1);
    return value;
  }

  /// A byte of a file.
  static char byte_of(const std::string& path, std::uint64_t offset) {
    std::ifstream file(path);
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<char>(file.get());
  }
  /// At another time than what was there, though the clock of files may not have ticked since.
  std::string make_file(const std::string& name, char value) const {
    const std::string path = directory_.path(name);
    std::ofstream(path) << value << std::string(kMiB - 1, '\0');
    using std::filesystem::last_write_time;
    last_write_time(path, last_write_time(path) + std::chrono::seconds(1));
    return path;
  }
  std::string saved(const std::string& to, const std::string& size = "1M") const {
    return "disk=memory:" + size + ",save=" + directory_.path(to);
  }

 private:
  int fd() const { return exports_->find("disk")->memory_fd(); }

  std::vector<KeptMemory> stored_;
};

TEST_F(KeptExportsTest, MemoryStaysWhenItGetsAFileToBeSavedTo) {
  start({"disk=memory:1M"});
  write(5, 'x');
  const auto known = generation();
  stop();
  start({saved("save")});
  EXPECT_EQ(read(5), 'x');
  EXPECT_EQ(generation(), known);
  stop();
  empty_store();
  EXPECT_EQ(byte_of(directory_.path("save"), 5), 'x');
  start({saved("save")});
  EXPECT_EQ(read(5), 'x');
  EXPECT_EQ(generation(), known);
}

TEST_F(KeptExportsTest, MemoryAndAFileThatIsNotFromItAreBothLeftAlone) {
  start({"disk=memory:1M"});
  write(0, 'm');
  kill();
  const auto file = make_file("save", 'f');
  EXPECT_THAT(refusal({saved("save")}),
              AllOf(HasSubstr("'disk' was kept"), HasSubstr(file), HasSubstr("--discard disk")));
  EXPECT_EQ(byte_of(file, 0), 'f');
  start({"disk=memory:1M"});
  EXPECT_EQ(read(0), 'm');
  kill();
  start({saved("save")}, {"disk"});
  EXPECT_EQ(read(0), 'f');
}

TEST_F(KeptExportsTest, ASaveMovesToAnotherPath) {
  start({saved("a")});
  write(0, 'm');
  stop();
  start({saved("b")});  // there is none yet
  EXPECT_EQ(read(0), 'm');
  write(0, 'n');
  kill();
  const auto file = make_file("c", 'c');
  EXPECT_THAT(refusal({saved("c")}), HasSubstr(file));
  start({saved("b")});
  EXPECT_EQ(read(0), 'n');
  stop();
  EXPECT_EQ(byte_of(directory_.path("a"), 0), 'm');
  EXPECT_EQ(byte_of(directory_.path("b"), 0), 'n');
  start({saved("c")});  // what was in memory is in b
  EXPECT_EQ(read(0), 'c');
}

TEST_F(KeptExportsTest, WhatWasWrittenWithoutASaveIsNotOlderThanIt) {
  start({saved("a")});
  write(0, 'm');
  stop();
  start({"disk=memory:1M"});
  EXPECT_EQ(read(0), 'm');
  write(0, 'n');
  kill();
  start({saved("a")});
  EXPECT_EQ(read(0), 'n');
  stop();
  start({"disk=memory:1M"});
  write(0, 'o');
  kill();
  make_file("a", 'f');
  EXPECT_THAT(refusal({saved("a")}), HasSubstr("--discard disk"));
}

TEST_F(KeptExportsTest, ASaveThatWasChangedIsLoadedWhenMemoryHasNothingMore) {
  start({saved("a")});
  write(0, 'm');
  stop();
  make_file("a", 'f');
  start({saved("a")});
  EXPECT_EQ(read(0), 'f');
}

TEST_F(KeptExportsTest, GrownMemoryIsThereAfterAKill) {
  start({"disk=memory:1M"});
  resize(3 * kMiB);
  write(3 * kMiB - 1, 'g');
  const auto known = generation();
  kill();
  start({"disk=memory:1M"});
  ASSERT_EQ(size(), 3 * kMiB);
  EXPECT_EQ(read(3 * kMiB - 1), 'g');
  EXPECT_EQ(generation(), known);
  resize(kMiB / 2);
  kill();
  start({"disk=memory:3M"});
  ASSERT_EQ(size(), kMiB / 2);
  resize(3 * kMiB);
  EXPECT_EQ(read(3 * kMiB - 1), '\0');
}

TEST_F(KeptExportsTest, ASaveHasTheSizeThatItWasResizedTo) {
  start({saved("a")});
  resize(2 * kMiB);
  write(2 * kMiB - 1, 'g');
  write(7, 'x');
  const auto known = generation();
  stop();
  empty_store();
  EXPECT_EQ(std::filesystem::file_size(directory_.path("a")), 2 * kMiB);
  start({saved("a")});
  ASSERT_EQ(size(), 2 * kMiB);
  EXPECT_EQ(read(2 * kMiB - 1), 'g');
  EXPECT_EQ(read(7), 'x');
  EXPECT_EQ(generation(), known);
  resize(kMiB / 2);
  write(kMiB / 2 - 1, 's');
  stop();
  empty_store();
  EXPECT_EQ(std::filesystem::file_size(directory_.path("a")), kMiB / 2);
  start({saved("a", "2M")});
  ASSERT_EQ(size(), kMiB / 2);
  EXPECT_EQ(read(kMiB / 2 - 1), 's');
  EXPECT_EQ(read(7), 'x');
  write(1, 'k');
  kill();
  start({saved("a", "2M")});
  ASSERT_EQ(size(), kMiB / 2);
  EXPECT_EQ(read(1), 'k');
  resize(kMiB);
  EXPECT_EQ(read(kMiB - 1), '\0');
}

TEST_F(KeptExportsTest, ASaveOfAnotherSizeIsRefused) {
  start({saved("a")});
  stop();
  empty_store();
  EXPECT_THAT(refusal({saved("a", "2M")}), HasSubstr("it has 1048576 bytes"));
}

TEST_F(KeptExportsTest, MemoryOfASaveThatGrewIsThereAfterAKill) {
  start({saved("a")});
  write(3, 'x');
  stop();
  start({saved("a")});
  resize(2 * kMiB);
  write(2 * kMiB - 1, 'g');
  kill();
  start({saved("a")});
  ASSERT_EQ(size(), 2 * kMiB);
  EXPECT_EQ(read(2 * kMiB - 1), 'g');
  EXPECT_EQ(read(3), 'x');
  kill();
  empty_store();
  start({saved("a")});  // the last save, and who knew more is told by the generation
  EXPECT_EQ(size(), kMiB);
  EXPECT_EQ(read(3), 'x');
}

TEST_F(KeptExportsTest, MemoryThatIsInAFileGoesWithItsExport) {
  start({saved("a"), "other=memory:1M"});
  write(0, 'm');
  stop();
  EXPECT_THAT(start({"other=memory:1M"}), ElementsAre("disk"));
  kill();
  EXPECT_EQ(byte_of(directory_.path("a"), 0), 'm');
  start({saved("a"), "other=memory:1M"});
  EXPECT_EQ(read(0), 'm');
  write(0, 'n');
  kill();
  EXPECT_THAT(refusal({"other=memory:1M"}), HasSubstr("no such export"));
}

/// One that was killed while it was about to note an export that was added.
TEST_F(KeptExportsTest, MemoryThatNobodyCouldWriteToGoesWithItsExport) {
  start({"disk=memory:1M"});
  kill();
  EXPECT_THAT(start({"other=memory:1M"}), ElementsAre("disk"));
  start({"disk=memory:1M,shared"});  // where no lease tells who writes
  kill();
  EXPECT_THAT(refusal({"other=memory:1M"}), HasSubstr("no such export"));
}

TEST_F(KeptExportsTest, MemoryOfWhoCameBackToWriteIsNotDropped) {
  for (const std::string& spec : {std::string("disk=memory:1M"), saved("a")}) {
    start({spec}, {"disk"});
    ASSERT_TRUE(offer("disk")->lease->renew({}));
    kill();
    EXPECT_THAT(refusal({"other=memory:1M"}), HasSubstr("no such export"));
  }
}

TEST_F(KeptExportsTest, AFileThatWasResidentIsServedAsItIs) {
  const auto file = make_file("disk", 'f');
  start({"disk=file:" + file + ",resident"});
  write(0, 'm');
  kill();
  EXPECT_THAT(refusal({"disk=file:" + file}), HasSubstr("it was a resident file"));
  start({"disk=file:" + file + ",resident"});
  stop();  // what a killed target left is compared
  EXPECT_THAT(start({"disk=file:" + file}), ElementsAre("disk"));
  EXPECT_EQ(byte_of(file, 0), 'm');
}

TEST_F(KeptExportsTest, AResidentFileThatGrewIsThereAfterAKill) {
  const auto file = make_file("disk", 'f');
  start({"disk=file:" + file + ",resident"});
  resize(2 * kMiB);
  write(2 * kMiB - 1, 'g');
  kill();
  start({"disk=file:" + file + ",resident"});
  ASSERT_EQ(size(), 2 * kMiB);
  EXPECT_EQ(read(2 * kMiB - 1), 'g');
  stop();
  EXPECT_EQ(byte_of(file, 2 * kMiB - 1), 'g');
}

}  // namespace
}  // namespace rdmablk::target
