#include "target/client_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <sstream>

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ClientLogTest : public ::testing::Test {
 protected:
  ClientLogTest() {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
  }
  ~ClientLogTest() override { spdlog::set_default_logger(before_); }

  void note(const std::string& account) {
    log_.note(account, spdlog::level::info, account + " attached", now_);
  }
  std::size_t lines() const {
    const std::string text = text_.str();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream text_;
  ClientLog log_;
  ClientLog::Clock::time_point now_ = ClientLog::Clock::now();
};

TEST_F(ClientLogTest, BoundsTheLinesOfEachClient) {
  for (unsigned i = 0; i < ClientLog::kLines + 7; ++i) note("alice");
  EXPECT_EQ(lines(), ClientLog::kLines);
  EXPECT_THAT(text_.str(), Not(HasSubstr("bob")));
  note("bob");
  EXPECT_THAT(text_.str(), HasSubstr("bob attached"));
  now_ += LogLimiter::kWindow;
  note("alice");
  EXPECT_THAT(text_.str(), HasSubstr("left out 7 more lines about alice"));
}

TEST_F(ClientLogTest, ForgetsWhoIsGone) {
  for (int i = 0; i < 1000; ++i) note(std::to_string(i));
  now_ += LogLimiter::kWindow;
  note("alice");
  EXPECT_EQ(log_.size(), 1U);
}

}  // namespace
}  // namespace rdmablk::target
