#include "initiator/cli/top_screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace rdmablk::cli {
namespace {

// ECMA-48 and xterm: the other screen without a cursor, and back.
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";
constexpr const char* kHome = "\x1b[H";
constexpr const char* kEndOfLine = "\x1b[K\n";
constexpr const char* kClearRest = "\x1b[J";

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) size = {24, 80, 0, 0};
  return size;
}

/// Cut to the terminal, line by line; what is longer would push the top away.
std::string fitted(std::string_view page) {
  const winsize size = size_of_terminal();
  std::string text = kHome;
  for (unsigned row = 0; row + 1U < size.ws_row && !page.empty(); ++row) {
    const auto end = page.find('\n');
    text += page.substr(0, end).substr(0, size.ws_col);
    text += kEndOfLine;
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
  }
  return text + kClearRest;
}

}  // namespace

TopScreen::TopScreen() : is_terminal_(::isatty(STDOUT_FILENO) != 0) {
  if (is_terminal_) print(kEnter);
}

TopScreen::~TopScreen() {
  if (is_terminal_) print(kLeave);
}

void TopScreen::show(std::string_view page) const {
  print(is_terminal_ ? fitted(page) : std::string(page) + "\n");
}

}  // namespace rdmablk::cli
