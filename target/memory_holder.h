#pragma once

#include <vector>

#include "target/succession_listener.h"

namespace rdmablk::target {

/// Hands the memory of a target that serves nothing any more to its successor, and holds on to it
/// until one serves it. Throws Error when a signal ends that first: the memory is lost then.
/// @param successor the first one.
void hand_over(std::vector<KeptMemory> memory, Successor successor);

}  // namespace rdmablk::target
