#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace rdmablk {

/// Reads the command line of a program, for whoever calls it from run_program().
/// @param program knows its options by now, and gets their values.
/// @return whether to go on; not when it was asked for help or its version, which has been printed.
/// Throws UsageError with what is wrong, in the words of option_values.h.
bool read_arguments(CLI::App& program, int argc, const char* const* argv);

}  // namespace rdmablk
