#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace rdmablk::target {

/// Where people see how far something has come.
class ProgressOutput {
 public:
  virtual ~ProgressOutput() = default;

  /// Whether redraw() does anything.
  virtual bool is_terminal() const noexcept = 0;

  /// Replaces the line that the cursor is on; an empty text clears it.
  virtual void redraw(std::string_view text) = 0;

  /// Adds a line to the log.
  virtual void log(const std::string& line) = 0;
};

/// Standard error, where the log goes as well.
ProgressOutput& standard_progress_output();

/// How far work on many bytes has come: on a terminal a bar, elsewhere a line of the log now and
/// then; at the end a line in either case. One thread.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// What is being done, in words: "export 'disk'", "loading", "loaded". The amount
  /// follows the last two.
  struct Words {
    std::string subject;
    std::string doing;
    std::string done;
  };

  /// @param total bytes, not zero. @param output outlives this.
  Progress(Words words, std::uint64_t total, ProgressOutput& output,
           Clock::time_point now = Clock::now());

  /// Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows how far it has come, unless that was shown just before.
  /// @param done bytes, of the total.
  void show(std::uint64_t done, Clock::time_point now = Clock::now());

  /// All is done. @param remark added to the last line, like ", 2 GiB of it holes".
  void finish(std::string_view remark = {}, Clock::time_point now = Clock::now());

 private:
  void draw(std::uint64_t done, Clock::time_point now);
  void log(std::uint64_t done, Clock::time_point now);
  void clear();
  std::string rate(std::uint64_t done, Clock::time_point now) const;

  Words words_;
  std::uint64_t total_;
  ProgressOutput& output_;
  Clock::time_point start_;
  Clock::time_point shown_at_;
  std::uint64_t shown_ = 0;
  bool drawn_ = false;
};

}  // namespace rdmablk::target
