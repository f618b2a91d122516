#include "target/progress.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/seconds.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenBars{100};

// A line is logged for every tenth that takes a while, and when there was none for long.
constexpr std::uint64_t kTenths = 10;
constexpr milliseconds kBetweenTenths{1000};
constexpr milliseconds kBetweenLines{5000};

constexpr std::uint64_t kBarWidth = 30;

class StandardOutput final : public ProgressOutput {
 public:
  bool is_terminal() const noexcept override { return ::isatty(STDERR_FILENO) == 1; }
  void redraw(std::string_view text) override {
    const std::string line = fmt::format("\r{}\x1b[K", text);
    // A terminal that takes no more is no reason to stop.
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, line.data(), line.size());
  }
  void log(const std::string& line) override { spdlog::info("{}", line); }
};

/// `part` of `whole`, scaled; neither overflows.
std::uint64_t share(std::uint64_t part, std::uint64_t whole, std::uint64_t scale) {
  return static_cast<std::uint64_t>(static_cast<double>(part) / static_cast<double>(whole) *
                                    static_cast<double>(scale));
}

}  // namespace

ProgressOutput& standard_progress_output() {
  static StandardOutput output;
  return output;
}

Progress::Progress(Words words, std::uint64_t total, ProgressOutput& output, Clock::time_point now)
    : words_(std::move(words)), total_(total), output_(output), start_(now), shown_at_(now) {
  output_.log(fmt::format("{}: {} {}", words_.subject, words_.doing, format_size(total_)));
}

Progress::~Progress() {
  clear();
}

void Progress::show(std::uint64_t done, Clock::time_point now) {
  const auto passed = now - shown_at_;
  if (output_.is_terminal()) {
    if (passed >= kBetweenBars) draw(done, now);
    return;
  }
  const bool next_tenth = share(done, total_, kTenths) > share(shown_, total_, kTenths);
  if (passed >= kBetweenLines || (next_tenth && passed >= kBetweenTenths)) log(done, now);
}

void Progress::draw(std::uint64_t done, Clock::time_point now) {
  const std::uint64_t filled = std::min(kBarWidth, share(done, total_, kBarWidth));
  output_.redraw(fmt::format("{}: {} [{:#<{}}{:.<{}}] {:3}% of {}, {}", words_.subject,
                             words_.doing, "", filled, "", kBarWidth - filled,
                             share(done, total_, 100), format_size(total_), rate(done, now)));
  drawn_ = true;
  shown_ = done;
  shown_at_ = now;
}

void Progress::log(std::uint64_t done, Clock::time_point now) {
  output_.log(fmt::format("{}: {} {}% of {}, {}", words_.subject, words_.doing,
                          share(done, total_, 100), format_size(total_), rate(done, now)));
  shown_ = done;
  shown_at_ = now;
}

void Progress::finish(std::string_view remark, Clock::time_point now) {
  clear();
  output_.log(fmt::format("{}: {} {} in {:.1f} s, {}{}", words_.subject, words_.done,
                          format_size(total_), in_seconds(now - start_), rate(total_, now),
                          remark));
}

void Progress::clear() {
  if (std::exchange(drawn_, false)) output_.redraw({});
}

std::string Progress::rate(std::uint64_t done, Clock::time_point now) const {
  constexpr double kMiB = 1 << 20;
  const double time = std::max(in_seconds(now - start_), 0.001);
  return fmt::format("{:.0f} MiB/s", static_cast<double>(done) / kMiB / time);
}

}  // namespace rdmablk::target
