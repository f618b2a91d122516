// Exports that come to a target and leave it, on real devices, without sessions.
#include "target/export_changes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <asio/executor_work_guard.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/socket_address.h"
#include "target/device_selection.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using Failure = std::optional<std::string>;

const Failure kDone = std::nullopt;

std::vector<SocketAddress> test_address() {
  const char* const host = std::getenv("RDMABLK_TEST_ADDRESS");
  return resolve({host != nullptr ? host : "127.0.0.1", 0});
}

/// A directory that goes away with the object.
class Directory {
 public:
  Directory() {
    std::string name = ::testing::TempDir() + "/rdmablk-changes-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = std::filesystem::canonical(name);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

bool is_locked(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0;
}

class ExportChangesTest : public ::testing::Test {
 protected:
  ExportChangesTest() : exports_(make_exports()), changes_(make_changes()) {}

  std::unique_ptr<Exports> make_exports(std::uint64_t slot_memory = std::uint64_t{64} << 20) {
    options_.state_directory = directory_.path("state");
    options_.slot_memory = slot_memory;
    return std::make_unique<Exports>(io_, options_, InheritedMemory(),
                                     select_devices(*manager_, test_address(), std::nullopt),
                                     service_manager_);
  }
  std::unique_ptr<ExportChanges> make_changes() {
    return std::make_unique<ExportChanges>(
        io_, *exports_, [this](const Export& gone) { ended_ = gone.spec().name; });
  }

  void run_until(const std::function<bool()>& done) {
    const auto work = asio::make_work_guard(io_);
    while (!done()) {
      io_.restart();
      io_.run_one();
    }
  }

  /// Waits for the end of a change.
  Failure await(const std::function<void(Administration::Done)>& begin) {
    std::optional<Failure> outcome;
    begin([&](Failure failure) { outcome = std::move(failure); });
    run_until([&] { return outcome.has_value(); });
    return *outcome;
  }
  Failure add(const std::string& spec) {
    return await([&](Administration::Done done) {
      changes_->add(parse_export_spec(spec), std::move(done));
    });
  }
  Failure remove(const std::string& name, const RemoveOptions& options = {}) {
    return await(
        [&](Administration::Done done) { changes_->remove(name, options, std::move(done)); });
  }

  const Offer* offer(const std::string& name) const {
    return exports_->devices().front()->catalog().find(name);
  }

  /// What the exports take, and the process.
  Counts counts() const {
    Counts counts;
    exports_->count(counts);
    counts.open_fds = count_open_fds();
    return counts;
  }

  Directory directory_;
  asio::io_context io_{1};
  std::unique_ptr<cm::ConnectionManager> manager_ = cm::make_rdmacm();
  ServiceManager service_manager_;
  Options options_;
  std::string ended_;
  std::unique_ptr<Exports> exports_;
  std::unique_ptr<ExportChanges> changes_;
};

TEST_F(ExportChangesTest, MemoryComesAndGoes) {
  EXPECT_EQ(add("first=memory:1M"), kDone);  // what is opened once
  const auto before = counts();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(add("disk=memory:4M"), kDone);
    ASSERT_NE(offer("disk"), nullptr);
    EXPECT_EQ(offer("disk")->info.size, 4U << 20);
    EXPECT_GT(counts().footprint.memory_regions, before.footprint.memory_regions);
    EXPECT_EQ(remove("disk"), kDone);
    EXPECT_EQ(ended_, "disk");
    EXPECT_EQ(offer("disk"), nullptr);
    EXPECT_EQ(counts().text(), before.text());
  }
  EXPECT_NE(offer("first"), nullptr);
}

TEST_F(ExportChangesTest, AFileIsMadeLockedAndLeftInOrder) {
  const auto path = directory_.path("disk.img");
  const auto spec = "disk=file:" + path + ",size=1M";
  ASSERT_EQ(add(spec), kDone);
  const auto known = offer("disk")->info.uuid;
  EXPECT_TRUE(is_locked(path));
  const auto before = counts();
  ASSERT_EQ(add("other=file:" + directory_.path("other.img") + ",size=1M,resident"), kDone);
  EXPECT_EQ(remove("other"), kDone);
  EXPECT_EQ(counts().text(), before.text());
  EXPECT_EQ(remove("disk"), kDone);
  EXPECT_FALSE(is_locked(path));
  EXPECT_EQ(std::filesystem::file_size(path), 1U << 20);
  ASSERT_EQ(add(spec), kDone);
  EXPECT_EQ(offer("disk")->info.uuid, known) << "it was left in order";
}

TEST_F(ExportChangesTest, AFailureLeavesNothing) {
  ASSERT_EQ(add("disk=memory:1M"), kDone);
  ASSERT_EQ(add("file=file:" + directory_.path("file.img") + ",size=1M"), kDone);
  const auto before = counts();
  EXPECT_THAT(add("disk=memory:1M"), Optional(HasSubstr("an export 'disk' already")));
  EXPECT_THAT(add("new=memory:1000T"), Optional(HasSubstr("more than the")));
  EXPECT_THAT(add("new=file:" + directory_.path("none.img")), Optional(HasSubstr("no such file")));
  EXPECT_THAT(add("new=file:" + directory_.path("file.img")), Optional(HasSubstr("of one file")));
  EXPECT_THAT(add("new=memory:1M,save=" + directory_.path("none/x")),
              Optional(HasSubstr("cannot save export 'new'")));
  EXPECT_EQ(offer("new"), nullptr);
  EXPECT_EQ(counts().text(), before.text());
  EXPECT_THAT(remove("new"), Optional(HasSubstr("there is no export 'new'")));
}

TEST_F(ExportChangesTest, AFileThatWasMadeInVainIsGoneAgain) {
  changes_.reset();
  exports_.reset();
  exports_ = make_exports(4096);
  changes_ = make_changes();
  const auto path = directory_.path("new.img");
  EXPECT_THAT(add("new=file:" + path + ",size=1M"), Optional(HasSubstr("--slot-memory is 4 KiB")));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ExportChangesTest, OneAfterTheOther) {
  std::vector<std::string> outcomes;
  const auto note = [&](const std::string& name) {
    return [&outcomes, name](const Failure& failure) {
      outcomes.push_back(name + (failure ? " failed" : " is there"));
    };
  };
  changes_->add(parse_export_spec("a=memory:4M"), note("a"));
  changes_->add(parse_export_spec("b=memory:1M"), note("b"));
  changes_->add(parse_export_spec("a=memory:1M"), note("another a"));
  run_until([&] { return outcomes.size() == 3; });
  EXPECT_THAT(outcomes, ::testing::ElementsAre("a is there", "b is there", "another a failed"));
  EXPECT_TRUE(changes_->is_idle());
}

TEST_F(ExportChangesTest, WaitsUntilNobodyUsesIt) {
  ASSERT_EQ(add("disk=memory:1M"), kDone);
  Export* const disk = exports_->find("disk");
  std::optional<ExportUse::Hold> attachment(disk->use().attach(true));
  EXPECT_THAT(remove("disk"), Optional(HasSubstr("in use, by 1 attachment")));
  EXPECT_THAT(remove("disk", {.force = true}), Optional(HasSubstr("--discard")));
  EXPECT_NE(offer("disk"), nullptr);
  std::optional<Failure> outcome;
  changes_->remove("disk", {.force = true, .discard = true},
                   [&](Failure failure) { outcome = std::move(failure); });
  EXPECT_EQ(offer("disk"), nullptr) << "at once";
  EXPECT_TRUE(changes_->is_leaving(*disk));
  EXPECT_THAT(remove("disk", {.force = true, .discard = true}),
              Optional(HasSubstr("being removed already")));
  EXPECT_THAT(add("disk=memory:1M"), Optional(HasSubstr("still being removed")));
  io_.restart();
  io_.poll();
  EXPECT_FALSE(outcome);
  attachment.reset();
  run_until([&] { return outcome.has_value(); });
  EXPECT_EQ(*outcome, kDone);
  EXPECT_EQ(exports_->find("disk"), nullptr);
}

TEST_F(ExportChangesTest, StaysWhenItsDataCannotBeSaved) {
  const auto path = directory_.path("disk.save");
  ASSERT_EQ(add("disk=memory:1M,save=" + path), kDone);
  exports_->find("disk")->use().attach(true);
  std::filesystem::create_directory(path);
  EXPECT_THAT(remove("disk"), Optional(HasSubstr("stays, and is offered again")));
  EXPECT_NE(offer("disk"), nullptr);
  std::filesystem::remove(path);
  EXPECT_EQ(remove("disk"), kDone);
  EXPECT_EQ(std::filesystem::file_size(path), 1U << 20);
}

TEST_F(ExportChangesTest, GivesUpWhenTheTargetEnds) {
  std::vector<Failure> outcomes;
  const auto note = [&](Failure failure) { outcomes.push_back(std::move(failure)); };
  const auto before = counts();
  changes_->add(parse_export_spec("large=memory:64M"), note);
  changes_->add(parse_export_spec("late=memory:1M"), note);
  changes_->stop();
  changes_->add(parse_export_spec("later=memory:1M"), note);
  changes_->finish();
  ASSERT_EQ(outcomes.size(), 3U);
  for (const Failure& outcome : outcomes) EXPECT_THAT(outcome, Optional(HasSubstr("about to end")));
  EXPECT_EQ(counts().text(), before.text());
  EXPECT_THAT(remove("large"), Optional(HasSubstr("about to end")));
}

TEST_F(ExportChangesTest, ARemovalThatHasBegunIsFinished) {
  const auto path = directory_.path("disk.save");
  ASSERT_EQ(add("disk=memory:1M,save=" + path), kDone);
  std::optional<Failure> outcome;
  changes_->remove("disk", {}, [&](Failure failure) { outcome = std::move(failure); });
  changes_->stop();
  changes_->finish();
  EXPECT_THAT(outcome, Optional(kDone));
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(exports_->find("disk"), nullptr);
}

}  // namespace
}  // namespace rdmablk::target
