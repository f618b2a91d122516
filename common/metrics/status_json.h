#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/metrics/io_counters.h"

namespace rdmablk::metrics {

/// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

/// What /status.json begins with: its version, the program, its version, this host.
Json new_status(std::string_view program);

/// Requests by their operation: how many have ended, bytes, failures, time.
Json io_json(const IoFigures& figures);

/// As it is sent; what is no UTF-8 is replaced.
std::string text_of(const Json& document);

}  // namespace rdmablk::metrics
