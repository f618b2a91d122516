#include "common/journal_sink.h"

#include <gmock/gmock.h>

#include <spdlog/spdlog.h>
#include <cstdlib>
#include <memory>

namespace rdmablk {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

TEST(JournalEntry, HasAPriority) {
  EXPECT_THAT(journal_entry(spdlog::level::warn, "rdmablk-target", "it smells", {}),
              ElementsAre("MESSAGE=it smells", "PRIORITY=4", "SYSLOG_IDENTIFIER=rdmablk-target"));
}

TEST(JournalEntry, HasItsFields) {
  const std::array fields{LogField{"CLIENT", "alice"}, LogField{"EXPORT", ""}};
  const auto entry = journal_entry(spdlog::level::info, "x", "alice came", fields);
  EXPECT_THAT(entry, Contains("CLIENT=alice"));
  EXPECT_THAT(entry, Not(Contains(StartsWith("EXPORT="))));
}

TEST(JournalEntry, IsAboutTheExportThatTheLineBeginsWith) {
  EXPECT_THAT(journal_entry(spdlog::level::info, "x", "export 'disk': it is there", {}),
              Contains("EXPORT=disk"));
  EXPECT_THAT(journal_entry(spdlog::level::info, "x", "export 'disk is not closed", {}),
              Not(Contains(StartsWith("EXPORT="))));
  const std::array fields{LogField{"EXPORT", "other"}};
  EXPECT_THAT(journal_entry(spdlog::level::info, "x", "export 'disk': it is there", fields),
              Not(Contains("EXPORT=disk")));
}

TEST(JournalSink, IsForAProcessThatTheJournalHears) {
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_FALSE(stderr_is_journal());
  ::setenv("JOURNAL_STREAM", "1:2", 1);
  EXPECT_FALSE(stderr_is_journal());
  ::unsetenv("JOURNAL_STREAM");
}

/// Keeps what it is told that lines are about.
class Listener final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> heard;

 private:
  void sink_it_(const spdlog::details::log_msg& /*message*/) override {
    std::string all;
    for (const LogField& field : current_log_fields()) {
      all += std::string(field.name) + "=" + std::string(field.value) + ";";
    }
    heard.push_back(all);
  }
  void flush_() override {}
};

TEST(LogAbout, TellsTheSinkOfThisLineAlone) {
  const auto before = spdlog::default_logger();
  const auto listener = std::make_shared<Listener>();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", listener));
  log_about({{"CLIENT", "alice"}}, spdlog::level::info, "{} is no format");
  spdlog::info("nothing");
  spdlog::set_default_logger(before);
  EXPECT_THAT(listener->heard, ElementsAre("CLIENT=alice;", ""));
}

}  // namespace
}  // namespace rdmablk
