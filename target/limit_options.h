#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "target/limits.h"

namespace rdmablk::target {

struct Options;

/// The options that bound what peers may take and how long they may take, as texts.
class LimitOptions {
 public:
  /// Adds them to a command line. This outlives its parsing.
  void describe(CLI::App& app);

  /// Throws UsageError. @param options has its slot memory.
  void apply(Options& options) const;

 private:
  std::string handshake_timeout_ = "10";
  std::string keepalive_ = "5";
  std::size_t max_sessions_ = Limits{}.sessions;
  std::size_t max_client_sessions_ = Limits{}.client_sessions;
  std::size_t max_session_queues_ = Limits{}.session_queues;
  std::size_t max_client_queues_ = Limits{}.client_queues;
  std::size_t max_handshakes_ = Limits{}.handshakes;
  unsigned admin_rate_ = Limits{}.admin_rate;
  std::optional<std::string> client_slot_memory_;
};

/// Reads a size that lies within limits and is a multiple of a sector. Throws UsageError.
std::uint64_t parse_memory(std::string_view flag, const std::string& text, std::uint64_t least,
                           std::uint64_t most);

}  // namespace rdmablk::target
