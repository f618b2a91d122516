#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target/config_text.h"

namespace CLI {
class App;
}  // namespace CLI

namespace rdmablk::target {

/// The option of a key: "--slot-size" of "slot_size".
std::string option_name(std::string_view key);

/// The keys that a configuration file may have: those of the options that are not for the command
/// line alone, and "export".
std::vector<std::string> config_keys(const CLI::App& app);

/// What a message says of --slot-size, said of slot_size.
std::string in_words_of_keys(const CLI::App& app, std::string text);

/// Sets an option as a file's key says, with the checks that the command line has.
/// @param app has the options, none of which has a value when this returns: what was set is with
/// whoever described them. @param complaints gets what is wrong with key or value.
/// @return whether it was set.
bool apply_key(CLI::App& app, const ConfigEntry& entry, Complaints& complaints);

}  // namespace rdmablk::target
