#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace rdmablk {

/// Has a program refuse options, and arguments, whose value is empty (`--output ""`), rather than
/// take them as not given. Of those that the program and its commands have so far.
void refuse_empty_values(CLI::App& program);

/// Refuses the form `--output=`, for which CLI11 would take the next word, whatever that is. Throws
/// UsageError.
void check_words(int argc, const char* const* argv);

/// What is wrong with a command line, where CLI11 says it in words of its own: the number of an
/// option's values.
/// @param command whose options those are.
std::string complaint_about_values(const CLI::App& command, const CLI::ParseError& error);

/// Reads an option that takes a whole number. Throws UsageError.
std::uint64_t read_number(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

}  // namespace rdmablk
