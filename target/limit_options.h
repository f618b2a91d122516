#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>

namespace rdmablk::target {

struct Options;

/// Adds the options that bound what peers may take and how long they may take.
/// @param options get the values, and outlive the parsing.
void describe_limits(CLI::App& app, Options& options);

/// Reads a size that lies within limits and is a multiple of a sector. Throws UsageError.
std::uint64_t parse_memory(std::string_view flag, const std::string& text, std::uint64_t least,
                           std::uint64_t most);

}  // namespace rdmablk::target
