#pragma once

#include <string_view>

namespace rdmablk::cli {

/// The terminal, taken for pages that follow one another; what was on it before is there again at
/// the end. Nothing but standard output where that is no terminal.
class TopScreen {
 public:
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  /// Shows a page, as far as it fits.
  void show(std::string_view page) const;

 private:
  bool is_terminal_;
};

}  // namespace rdmablk::cli
