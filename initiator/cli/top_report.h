#pragma once

#include <string>

#include "initiator/cli/json.h"
#include "initiator/cli/top_sample.h"

namespace rdmablk::cli {

/// What came to everything in a second, between two samples, as tables for people.
std::string top_text(const TopSample& before, const TopSample& now);

/// The same, for programs.
Json top_json(const TopSample& before, const TopSample& now);

}  // namespace rdmablk::cli
