#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace rdmablk::initiator {

/// The longest time that RecoveryOptions takes.
inline constexpr std::chrono::milliseconds kMaxRecoveryTime = std::chrono::hours(365 * 24);

/// Reads RecoveryOptions::reconnect_delay as people type it: seconds, more than 0, with up to three
/// decimals.
/// @param option how it is called, for the message. Throws UsageError.
std::chrono::milliseconds read_reconnect_delay(const std::string& option, const std::string& value);

/// Reads RecoveryOptions::fail_fast or give_up: seconds, with up to three decimals, or "never".
/// @param option how it is called, for the message. Throws UsageError.
std::optional<std::chrono::milliseconds> read_recovery_limit(const std::string& option,
                                                             const std::string& value);

}  // namespace rdmablk::initiator
