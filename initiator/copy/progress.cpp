#include "initiator/copy/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rdmablk::copy {
namespace {

constexpr double kKibibyte = 1024;

/// A size that is only ever looked at in passing: one decimal, and a unit that fits.
std::string round_size(double bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= kKibibyte && unit + 1 < std::size(kUnits)) {
    bytes /= kKibibyte;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string time_left(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds, 359999.0) + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02} left", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} left", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string progress_text(std::uint64_t bytes, std::uint64_t total, double rate) {
  const std::string speed = fmt::format("{}/s", round_size(rate));
  const auto done = static_cast<double>(bytes);
  if (total == UINT64_MAX) return fmt::format("{}  {}", round_size(done), speed);
  constexpr std::size_t kWidth = 20;
  const double share = total == 0 ? 1 : std::min(done / static_cast<double>(total), 1.0);
  const auto full = static_cast<std::size_t>(share * kWidth);
  std::string text =
      fmt::format("[{}{}] {:3} %  {} of {}  {}", std::string(full, '#'),
                  std::string(kWidth - full, '.'), static_cast<unsigned>(share * 100),
                  round_size(done), round_size(static_cast<double>(total)), speed);
  if (rate > 0) text += "  " + time_left((static_cast<double>(total) - done) / rate);
  return text;
}

Progress::Progress(std::string doing, std::uint64_t total, bool wanted)
    : doing_(std::move(doing)),
      total_(total),
      is_shown_(wanted && isatty(STDERR_FILENO) == 1),
      start_(Clock::now()) {}

void Progress::clear() noexcept {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

void Progress::draw(std::uint64_t bytes) {
  if (!is_shown_) return;
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  const double rate = static_cast<double>(bytes) / std::max(elapsed.count(), 1e-3);
  std::fprintf(stderr, "\r\033[K%s %s", doing_.c_str(), progress_text(bytes, total_, rate).c_str());
  drawn_ = true;
}

}  // namespace rdmablk::copy
