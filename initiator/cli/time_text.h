#pragma once

#include <chrono>
#include <string>

namespace rdmablk::cli {

/// A time for people, of the two largest units that it has: "45 s", "12 min 3 s", "3 h 12 min",
/// "4 d 2 h".
std::string time_text(std::chrono::seconds time);

}  // namespace rdmablk::cli
