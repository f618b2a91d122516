#pragma once

namespace rdmablk::fuzz {

/// Begins the random numbers anew, as each input does: they are the same every time. Stands in for
/// the system's generator in what links it: its source defines fill_random().
void restart_random();

}  // namespace rdmablk::fuzz
