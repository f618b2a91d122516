#include "target/admin_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_administration.h"

namespace rdmablk::target {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = 1U << 20U;

SessionStatus session(std::uint32_t id) {
  SessionStatus session;
  session.id = id;
  return session;
}

class AdminServiceTest : public ::testing::Test {
 protected:
  /// What it answers, at once; null when it does not.
  json ask(const std::string& members, bool has_keeper = true) {
    const auto decoded = decode_admin_request(R"({"version":1,"id":"x",)" + members + "}");
    const auto* const request = std::get_if<AdminRequest>(&decoded);
    if (request == nullptr) {
      ADD_FAILURE() << std::get<AdminRefusal>(decoded).reason;
      return {};
    }
    service_.emplace(target_, facts_, has_keeper ? &keeper_ : nullptr);
    replies_.clear();
    service_->serve(*request, [this](const std::string& text) { replies_.push_back(text); });
    return reply();
  }

  json reply() {
    EXPECT_LE(replies_.size(), 1U);
    if (replies_.empty()) return {};
    EXPECT_EQ(replies_.front().find('\n'), std::string::npos);
    const json reply = json::parse(replies_.front());
    EXPECT_EQ(reply.at("version"), 1);
    EXPECT_EQ(reply.at("id"), "x");
    return reply;
  }

  std::string error(const std::string& members, bool has_keeper = true) {
    return ask(members, has_keeper).value("error", "");
  }

  FakeAdministration target_;
  FakeKeeper keeper_;
  TargetFacts facts_;
  std::optional<AdminService> service_;
  std::vector<std::string> replies_;
};

TEST_F(AdminServiceTest, TellsTheStatus) {
  target_.offer("a=memory:1M", kMiB, ExportOrigin::command_line);
  target_.figures.sessions = 3;
  facts_.listening = {"192.0.2.1:10812"};
  const json status = ask(R"("request":"status")").at("status");
  EXPECT_EQ(status.at("exports"), 1);
  EXPECT_EQ(status.at("sessions"), 3);
  EXPECT_EQ(status.at("offered_bytes"), kMiB);
  EXPECT_EQ(status.at("listening"), json::array({"192.0.2.1:10812"}));
  EXPECT_EQ(status.at("configuration"), nullptr);
}

TEST_F(AdminServiceTest, ListsExportsByName) {
  target_.offer("b=file:/srv/\xff", 512, ExportOrigin::configuration);
  target_.offer("a=memory:1M,readonly", kMiB, ExportOrigin::run_time);
  target_.list[0].lease = 9;
  const json exports = ask(R"("request":"exports")").at("exports");
  ASSERT_EQ(exports.size(), 2U);
  EXPECT_EQ(exports[0].at("name"), "a");
  EXPECT_EQ(exports[0].at("type"), "memory");
  EXPECT_EQ(exports[0].at("read_only"), true);
  EXPECT_EQ(exports[0].at("lease"), nullptr);
  EXPECT_EQ(exports[0].at("origin"), "run_time");
  EXPECT_EQ(exports[1].at("file"), "/srv/\xEF\xBF\xBD");
  EXPECT_EQ(exports[1].at("lease"), 9);
}

TEST_F(AdminServiceTest, ListsSessionsByNumber) {
  target_.guests = {session(8), session(2)};
  target_.guests[1].client = "alice";
  target_.guests[1].attachments = {{"a", protocol::Access::read_write, 4}};
  const json sessions = ask(R"("request":"sessions")").at("sessions");
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].at("session"), 2);
  EXPECT_EQ(sessions[0].at("client"), "alice");
  EXPECT_EQ(sessions[0].at("attachments")[0],
            json({{"export", "a"}, {"access", "read_write"}, {"queues", 4}}));
  EXPECT_EQ(sessions[1].at("client"), nullptr);
}

TEST_F(AdminServiceTest, AddsAndKeeps) {
  EXPECT_EQ(ask(R"("request":"export_add","export":"a=memory:1M")").at("done"), true);
  EXPECT_THAT(target_.calls, ElementsAre("add a"));
  EXPECT_THAT(keeper_.calls, ElementsAre("keep a 1048576"));
}

TEST_F(AdminServiceTest, AddsAtRunTime) {
  EXPECT_EQ(
      ask(R"("request":"export_add","export":"a=memory:1M","runtime":true)", false).at("done"),
      true);
  EXPECT_THAT(target_.calls, ElementsAre("add a run_time"));
}

TEST_F(AdminServiceTest, CannotKeepWithoutAConfiguration) {
  EXPECT_THAT(error(R"("request":"export_add","export":"a=memory:1M")", false),
              HasSubstr("without --config: ask for it with --runtime"));
  EXPECT_THAT(target_.calls, IsEmpty());
}

TEST_F(AdminServiceTest, KeepsNothingThatWasNotDone) {
  target_.failure = "there is no memory";
  EXPECT_EQ(error(R"("request":"export_add","export":"a=memory:1M")"), "there is no memory");
  EXPECT_THAT(keeper_.calls, IsEmpty());
}

TEST_F(AdminServiceTest, TakesBackWhatCannotBeKept) {
  keeper_.trouble = "the disk is full";
  EXPECT_EQ(error(R"("request":"export_add","export":"a=memory:1M")"),
            "export 'a' was not added, as it could not be kept: the disk is full");
  EXPECT_THAT(target_.calls, ElementsAre("add a", "remove a"));
}

TEST_F(AdminServiceTest, LeavesWhatIsUsedByThenForTheRun) {
  keeper_.trouble = "the disk is full";
  target_.failure_to_remove = "it is attached";
  EXPECT_EQ(
      error(R"("request":"export_add","export":"a=memory:1M")"),
      "export 'a' was added, but as with --runtime, as it could not be kept: the disk is full");
  EXPECT_THAT(target_.calls, ElementsAre("add a", "remove a", "adopt a run_time"));
}

TEST_F(AdminServiceTest, TellsWhatWasDoneAndNotKept) {
  keeper_.trouble = "the disk is full";
  target_.offer("a=memory:1M", kMiB, ExportOrigin::configuration);
  keeper_.kept = {"a"};
  EXPECT_EQ(error(R"("request":"export_remove","name":"a","discard":true)"),
            "export 'a' was removed, but only until the next reload or start: the disk is full");
  EXPECT_EQ(error(R"("request":"export_resize","name":"a","size":"2M")"),
            "export 'a' was resized, but the configuration has its old size still: the disk is "
            "full");
}

TEST_F(AdminServiceTest, AnswersWhenItIsDone) {
  target_.is_slow = true;
  EXPECT_TRUE(ask(R"("request":"reload")").is_null());
  target_.pending.front()(std::nullopt);
  EXPECT_EQ(reply().at("done"), true);
}

TEST_F(AdminServiceTest, RemovesAndForgets) {
  target_.offer("a=memory:1M", kMiB, ExportOrigin::configuration);
  keeper_.kept = {"a"};
  EXPECT_EQ(ask(R"("request":"export_remove","name":"a","discard":true)").at("done"), true);
  EXPECT_THAT(target_.calls, ElementsAre("remove a discard"));
  EXPECT_THAT(keeper_.calls, ElementsAre("forget a"));
}

TEST_F(AdminServiceTest, LeavesTheConfigurationFileAlone) {
  target_.offer("a=memory:1M", kMiB, ExportOrigin::configuration);
  EXPECT_THAT(error(R"("request":"export_remove","name":"a")"), HasSubstr("take it out there"));
  EXPECT_THAT(error(R"("request":"export_resize","name":"a","size":"2M")"),
              HasSubstr("change its size there"));
  EXPECT_THAT(target_.calls, IsEmpty());
  ask(R"("request":"export_remove","name":"a","runtime":true)");
  EXPECT_THAT(target_.calls, ElementsAre("remove a"));
  EXPECT_THAT(keeper_.calls, IsEmpty());
}

TEST_F(AdminServiceTest, KnowsWhatThereIs) {
  EXPECT_THAT(error(R"("request":"export_remove","name":"z")"), HasSubstr("no export 'z'"));
  EXPECT_THAT(error(R"("request":"export_resize","name":"z","size":512)"),
              HasSubstr("no export 'z'"));
  EXPECT_THAT(error(R"("request":"session_evict","session":4)"), HasSubstr("no session 4"));
}

TEST_F(AdminServiceTest, ResizesByMoreAndLess) {
  target_.offer("a=file:/srv/a,size=4M", 4 * kMiB, ExportOrigin::configuration);
  keeper_.kept = {"a"};
  ask(R"("request":"export_resize","name":"a","size":"+1M")");
  ask(R"("request":"export_resize","name":"a","size":"-1M","shrink":true)");
  EXPECT_THAT(target_.calls, ElementsAre("resize a 5242880", "resize a 3145728"));
  EXPECT_THAT(keeper_.calls, ElementsAre("keep a 5242880", "keep a 3145728"));
}

/// A block device may get another size before the next start.
TEST_F(AdminServiceTest, KeepsNoSizeOfAFileThatNoneIsGivenFor) {
  target_.offer("a=file:/dev/a", 4 * kMiB, ExportOrigin::configuration);
  keeper_.kept = {"a"};
  ask(R"("request":"export_resize","name":"a","size":"8M")");
  EXPECT_THAT(target_.calls, ElementsAre("resize a 8388608"));
  EXPECT_THAT(keeper_.calls, ElementsAre("keep a 0"));
}

TEST_F(AdminServiceTest, ShrinksOnlyWhenThatIsMeant) {
  target_.offer("a=memory:4M", 4 * kMiB, ExportOrigin::run_time);
  EXPECT_THAT(error(R"("request":"export_resize","name":"a","size":"1M")"), HasSubstr("--shrink"));
  EXPECT_THAT(error(R"("request":"export_resize","name":"a","size":"-1M")"), HasSubstr("--shrink"));
  EXPECT_THAT(error(R"("request":"export_resize","name":"a","size":"-4M","shrink":true)"),
              HasSubstr("cannot be taken off"));
  EXPECT_THAT(error(R"("request":"export_resize","name":"a","size":"+9223372036854775296")"),
              HasSubstr("cannot become that large"));
  EXPECT_THAT(target_.calls, IsEmpty());
}

TEST_F(AdminServiceTest, Evicts) {
  target_.guests = {session(4)};
  EXPECT_EQ(ask(R"("request":"session_evict","session":4)").at("done"), true);
  EXPECT_THAT(target_.calls, ElementsAre("evict 4 an administrator ended it"));
}

}  // namespace
}  // namespace rdmablk::target
