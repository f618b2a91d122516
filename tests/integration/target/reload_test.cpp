// Exports that follow what a target's command line and configuration ask for.
#include "target/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "common/error.h"
#include "export_changes_fixture.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

class ReloadTest : public ExportChangesTest, private Administration {
 protected:
  ReloadTest()
      : reload_(
            options_, [this] { return load(); }, *exports_, *this,
            [this](const Export& changed) { rechecked_.push_back(changed.spec().name); }) {}

  /// What is asked for from now on.
  void want(const std::vector<std::string>& specs, const std::vector<std::string>& discards = {}) {
    wanted_ = options_;
    for (const std::string& text : specs) {
      wanted_.exports.push_back(parse_export_spec(text));
      wanted_.exports.back().origin = ExportOrigin::configuration;
    }
    wanted_.discards = discards;
  }

  void begin(Done done) { reload_.run(std::move(done)); }
  Failure reload_now() {
    return await([&](Done done) { begin(std::move(done)); });
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& one : exports_->all()) names.push_back(one->spec().name);
    return names;
  }

  Options wanted_;
  std::string broken_;
  std::vector<std::string> rechecked_;

 private:
  Options load() const {
    if (!broken_.empty()) throw UsageError(broken_);
    return wanted_;
  }
  std::vector<ExportStatus> exports() const override { return {}; }
  std::vector<SessionStatus> sessions() const override { return {}; }
  Counts counts() const override { return {}; }
  void add_export(const ExportSpec& spec, ExportOrigin /*origin*/, Done done) override {
    changes_->add(spec, std::move(done));
  }
  void remove_export(const std::string& name, const RemoveOptions& options, Done done) override {
    changes_->remove(name, options, std::move(done));
  }
  void adopt_export(const std::string& name, ExportOrigin origin, Done done) override {
    changes_->adopt(name, origin, std::move(done));
  }
  void resize_export(const std::string& name, std::uint64_t size, Done done) override {
    done(std::to_string(size) + " is no size for " + name);
  }
  bool evict(std::uint32_t /*session*/, const std::string& /*reason*/) override { return false; }
  void reload(Done /*done*/) override {}

  Reload reload_;
};

TEST_F(ReloadTest, AddsAndRemoves) {
  want({"a=memory:1M", "b=memory:1M"});
  EXPECT_EQ(reload_now(), kDone);
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_EQ(exports_->find("a")->spec().origin, ExportOrigin::configuration);
  want({"c=memory:1M", "b=memory:1M"});
  const Export* const kept = exports_->find("b");
  EXPECT_EQ(reload_now(), kDone);
  EXPECT_THAT(names(), ElementsAre("b", "c"));
  EXPECT_EQ(exports_->find("b"), kept);
}

TEST_F(ReloadTest, DoesTheRestWhenSomethingCannotBeDone) {
  want({"a=memory:1M", "b=memory:1M"});
  ASSERT_EQ(reload_now(), kDone);
  exports_->find("a")->use().attach(true);
  want({"b=memory:2M", "c=memory:200T", "d=memory:1M"});
  EXPECT_THAT(reload_now(), Optional(AllOf(HasSubstr("'a' stays"), HasSubstr("is no size for b"),
                                           HasSubstr("'c' is to have"))));
  EXPECT_THAT(names(), ElementsAre("a", "b", "d"));
  want({"b=memory:1M"}, {"a"});
  EXPECT_EQ(reload_now(), kDone);
  EXPECT_THAT(names(), ElementsAre("b"));
}

TEST_F(ReloadTest, EndsWhoHasWhatNothingAsksForAnyMore) {
  want({"a=file:" + directory_.path("a.img") + ",size=1M"});
  ASSERT_EQ(reload_now(), kDone);
  std::optional<ExportUse::Hold> hold(exports_->find("a")->use().attach(true));
  want({});
  std::optional<Failure> outcome;
  begin([&](Failure failure) { outcome = std::move(failure); });
  EXPECT_EQ(ended_, "a");
  hold.reset();
  run_until([&] { return outcome.has_value(); });
  EXPECT_EQ(*outcome, kDone);
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(ReloadTest, SavesWhatNothingAsksForAnyMore) {
  const std::string save = directory_.path("save");
  const std::string spec = "a=memory:1M,save=" + save;
  want({spec});
  ASSERT_EQ(reload_now(), kDone);
  const auto known = offer("a")->info.uuid;
  const auto generation = exports_->find("a")->identity().generation();
  exports_->find("a")->use().attach(true);
  want({"a=memory:1M,save=" + save + "2"});
  EXPECT_THAT(reload_now(), Optional(HasSubstr("(save)")));
  want({});
  ASSERT_EQ(reload_now(), kDone);
  EXPECT_EQ(std::filesystem::file_size(save), 1U << 20);
  want({spec});
  ASSERT_EQ(reload_now(), kDone);
  EXPECT_EQ(offer("a")->info.uuid, known);
  EXPECT_EQ(exports_->find("a")->identity().generation(), generation);
}

TEST_F(ReloadTest, IsNotDoneBeforeWhatWasAddedForTheRunIsKept) {
  ExportSpec spec = parse_export_spec("a=memory:1M");
  spec.origin = ExportOrigin::run_time;
  std::optional<Failure> added;
  changes_->add(spec, [&](Failure failure) { added = std::move(failure); });
  run_until([&] { return added.has_value(); });
  want({"a=memory:1M"});
  std::optional<Failure> outcome;
  begin([&](Failure failure) { outcome = std::move(failure); });
  EXPECT_FALSE(outcome);
  EXPECT_FALSE(changes_->is_idle());
  EXPECT_THAT(remove("a"), Optional(HasSubstr("about to be kept")));
  run_until([&] { return outcome.has_value(); });
  EXPECT_EQ(*outcome, kDone);
  EXPECT_TRUE(changes_->is_idle());
  EXPECT_EQ(exports_->find("a")->spec().origin, ExportOrigin::configuration);
  EXPECT_EQ(remove("a"), kDone);
}

TEST_F(ReloadTest, ChangesRulesAtOnce) {
  want({"a=memory:1M,allow=alice,allow=bob"});
  ASSERT_EQ(reload_now(), kDone);
  want({"a=memory:1M,allow=bob"});
  EXPECT_EQ(reload_now(), kDone);
  EXPECT_THAT(rechecked_, ElementsAre("a"));
  EXPECT_FALSE(offer("a")->rules->access_of("alice", std::nullopt));
  EXPECT_TRUE(offer("a")->rules->access_of("bob", std::nullopt));
}

TEST_F(ReloadTest, ChangesNothingWhenTheConfigurationIsBroken) {
  want({"a=memory:1M"});
  ASSERT_EQ(reload_now(), kDone);
  broken_ = "line 3 makes no sense";
  EXPECT_THAT(reload_now(), Optional(HasSubstr("line 3 makes no sense")));
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(ReloadTest, NamesWhatTakesARestart) {
  want({});
  wanted_.io_threads = options_.io_threads + 1;
  wanted_.limits.sessions = 7;
  EXPECT_THAT(reload_now(), Optional(AllOf(HasSubstr("--io-threads changed"),
                                           HasSubstr("--max-sessions changed"))));
}

TEST_F(ReloadTest, IsDoneOnceMoreForWhoAsksMeanwhile) {
  std::vector<Failure> outcomes;
  const auto note = [&](Failure failure) { outcomes.push_back(std::move(failure)); };
  want({"a=memory:1M"});
  begin(note);
  want({"b=memory:1M"});
  begin(note);
  run_until([&] { return outcomes.size() == 2; });
  EXPECT_THAT(names(), ElementsAre("b"));
}

}  // namespace
}  // namespace rdmablk::target
