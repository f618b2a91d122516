#pragma once

#include <string>
#include <vector>

namespace rdmablk::cli {

/// How a program ended, and what it wrote to standard error.
struct Outcome {
  int status = 0;    ///< as of waitpid(2)
  std::string text;  ///< whole

  /// Its exit status, or 128 and the number of the signal that ended it.
  int exit_status() const noexcept;

  /// The last line of the text, without "program: " in front of it; log lines may precede it.
  std::string complaint() const;
};

/// Runs a program and waits for its end, or until it has closed its standard error. Throws
/// SystemError when it cannot be started.
/// @param command the program, found by PATH if it has no slash, and its arguments.
Outcome run_program_and_wait(std::vector<std::string> command);

/// Where rdmablk-fuse is: beside this program, or else to be found by PATH.
std::string fuse_program();

}  // namespace rdmablk::cli
