#pragma once

#include <cstdint>

/// What an end of a session may be able to do beyond the protocol's first version: bits of HELLO
/// and its reply. What both have is used.
namespace rdmablk::protocol {

/// The initiator takes EVENT of the kind `resized`, and acknowledges it only when it is through
/// with what it knew before.
inline constexpr std::uint64_t kFeatureResize = 1;

/// All that this code has.
inline constexpr std::uint64_t kFeatures = kFeatureResize;

}  // namespace rdmablk::protocol
