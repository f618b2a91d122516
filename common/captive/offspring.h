#pragma once

#include <chrono>

namespace rdmablk {

/// How long processes may take to end when they are asked to, and again when they are killed.
inline constexpr std::chrono::seconds kOffspringPatience{5};

/// Ends all children of this process with SIGTERM, and those that become its children as theirs do
/// (PR_SET_CHILD_SUBREAPER, which the caller has set); after a while with SIGKILL. Returns when
/// there are none, or when even that does not help. Not while other threads wait for children.
void end_offspring() noexcept;

}  // namespace rdmablk
