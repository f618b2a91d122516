#pragma once

#include <functional>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk {

/// What a program tells its keeper: a packet. Behind `start` come the variables, NAME=VALUE, each
/// with a zero byte behind it.
struct KeeperOrder {
  enum class Kind : int { start, signal, end };

  Kind kind;
  int number;  ///< of the signal
};

/// The most bytes that a packet has.
inline constexpr std::size_t kMaxKeeperPacket = std::size_t{128} << 10U;

/// The keeper's life, in a process of its own: runs the command when it is told to, passes signals
/// on, and ends all that is left when the command ends, or the program does. Then it says the
/// command's exit status, an int, and returns.
/// @param socket to the program. @param orphaned see CaptiveCommand.
/// @return the keeper's exit status.
int keep(const std::string& command, UniqueFd socket,
         const std::function<void()>& orphaned) noexcept;

}  // namespace rdmablk
