#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace rdmablk {

/// What to say of a word on a command line that a program, or one of its commands, does not know;
/// with the option or command that may have been meant: "unknown option '--jsn'; do you mean
/// '--json'?".
/// @param command the last one that the line named, or the program.
std::string complaint_about_word(const CLI::App& command, std::string_view word);

}  // namespace rdmablk
