#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace rdmablk::target {

/// A peer that is not in, or not in any more: it has not said who it is, or reads why it was
/// refused.
struct Handshake {
  std::string host;
  std::chrono::steady_clock::time_point since;
};

/// Decides which handshake gives way to the next when there is room for no more: the oldest one of
/// the host that has the most, so that nobody keeps others out by connecting often. Between hosts
/// that have as many as the newcomer's, or of that host itself, it must have lasted for a while.
/// @param newcomer the host that the next one comes from. @param reticence how long that is.
/// @return its index; nothing: the newcomer has to wait.
std::optional<std::size_t> who_gives_way(std::span<const Handshake> handshakes,
                                         const std::string& newcomer,
                                         std::chrono::milliseconds reticence,
                                         std::chrono::steady_clock::time_point now);

}  // namespace rdmablk::target
