#pragma once

#include <spdlog/spdlog.h>

#include <string>

namespace rdmablk {

/// Throws UsageError when it is none of trace, debug, info, warning, error.
void check_log_level(const std::string& level);

/// Sends the process's log to standard error, a line an entry, or to systemd's journal if that is
/// what standard error is; and sets what is logged.
/// @param program its name, which stands in front of every line.
/// @param level one of trace, debug, info, warning, error; throws UsageError for anything else.
void start_logging(const std::string& program, const std::string& level);

/// One line on standard error for each line of the text; nothing when it cannot be written.
void print_error(const std::string& program, const std::string& text) noexcept;

/// Runs a program's main part: an Error ends it with one line on standard error and the exit status
/// that belongs to it.
int run_program(const std::string& program, int (*run)(int, char**), int argc, char** argv);

}  // namespace rdmablk
