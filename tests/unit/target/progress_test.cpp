#include "target/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rdmablk::target {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class Recorder final : public ProgressOutput {
 public:
  explicit Recorder(bool terminal) : terminal_(terminal) {}
  bool is_terminal() const noexcept override { return terminal_; }
  void redraw(std::string_view text) override { bars.emplace_back(text); }
  void log(const std::string& line) override { lines.push_back(line); }

  std::vector<std::string> bars;
  std::vector<std::string> lines;

 private:
  bool terminal_;
};

class ProgressTest : public ::testing::Test {
 protected:
  static Progress::Clock::time_point at(int time) {
    return Progress::Clock::time_point(milliseconds(time));
  }
  static Progress make(Recorder& output) {
    return {{"export 'disk'", "loading", "loaded"}, 100 * kMiB, output, at(0)};
  }

  Recorder terminal_{true};
  Recorder log_{false};
};

TEST_F(ProgressTest, ABarIsRedrawnTenTimesASecondAtMost) {
  Progress progress = make(terminal_);
  for (int time = 1; time <= 1000; ++time) progress.show(50 * kMiB, at(time));
  EXPECT_THAT(terminal_.bars, SizeIs(10));
  EXPECT_THAT(terminal_.lines, ElementsAre("export 'disk': loading 100 MiB"));
}

TEST_F(ProgressTest, ABarShowsTheShareAndTheRate) {
  Progress progress = make(terminal_);
  progress.show(50 * kMiB, at(500));
  ASSERT_THAT(terminal_.bars, SizeIs(1));
  EXPECT_EQ(terminal_.bars[0],
            "export 'disk': loading [###############...............]  50% of 100 MiB, 100 MiB/s");
}

TEST_F(ProgressTest, TheBarGoesAwayAtTheEnd) {
  {
    Progress progress = make(terminal_);
    progress.show(100 * kMiB, at(2000));
    progress.finish(", 1 MiB of it holes", at(2000));
    EXPECT_THAT(terminal_.bars, ElementsAre(HasSubstr("100%"), ""));
  }
  EXPECT_THAT(terminal_.bars, SizeIs(2));
  EXPECT_EQ(terminal_.lines.back(),
            "export 'disk': loaded 100 MiB in 2.0 s, 50 MiB/s, 1 MiB of it holes");
}

TEST_F(ProgressTest, TheBarGoesAwayWhenTheWorkFails) {
  make(terminal_).show(kMiB, at(200));
  EXPECT_THAT(terminal_.bars, ElementsAre(HasSubstr("  1%"), ""));
  EXPECT_THAT(terminal_.lines, SizeIs(1));
}

TEST_F(ProgressTest, TheLogGetsALineForEveryTenthThatTakesAWhile) {
  Progress progress = make(log_);
  for (int percent = 1; percent <= 100; ++percent) {
    progress.show(static_cast<std::uint64_t>(percent) * kMiB, at(percent * 150));
  }
  progress.finish({}, at(15000));
  EXPECT_THAT(log_.bars, IsEmpty());
  EXPECT_THAT(log_.lines, SizeIs(12));
  EXPECT_THAT(log_.lines[1], AllOf(HasSubstr("loading 10% of 100 MiB"), HasSubstr("7 MiB/s")));
}

TEST_F(ProgressTest, TheLogOfSomethingShortHasItsStartAndItsEnd) {
  Progress progress = make(log_);
  for (int percent = 1; percent <= 100; ++percent) {
    progress.show(static_cast<std::uint64_t>(percent) * kMiB, at(percent));
  }
  progress.finish({}, at(100));
  EXPECT_THAT(log_.lines, ElementsAre(HasSubstr("loading"), HasSubstr("loaded")));
}

TEST_F(ProgressTest, TheLogShowsThatSomethingSlowGoesOn) {
  Progress progress = make(log_);
  for (int second = 1; second <= 11; ++second) progress.show(kMiB, at(second * 1000));
  EXPECT_THAT(log_.lines, SizeIs(3));
}

}  // namespace
}  // namespace rdmablk::target
