#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softverbs {

/// What can go wrong on purpose. README.md in this folder says what each does.
enum class Fault : uint8_t {
  kError,
  kQpDeath,
  kDelay,
  kLateWrite,
  kUnheard,
  kPostFull,
  kPollShort,
  kReorder,
  kSpuriousEvent,
  kAsyncEvent,
  kStall,
  kCmLost,
  kCmReject,
  kDeviceRemoval,
  kPortDown,
};

/// Whether a fault lasts as long as the plan has it, in place of striking now and then.
inline constexpr bool is_outage(Fault fault) {
  return fault == Fault::kDeviceRemoval || fault == Fault::kPortDown;
}

/// The faults' names in SOFTVERBS_FAULTS, in the order of the enumeration.
inline constexpr std::array<std::string_view, 15> kFaultNames{
    "error",     "qp-death",   "delay",     "late-write",     "unheard",
    "post-full", "poll-short", "reorder",   "spurious-event", "async-event",
    "stall",     "cm-lost",    "cm-reject", "device-removal", "port-down"};

inline constexpr std::string_view name_of(Fault fault) {
  return kFaultNames[static_cast<size_t>(fault)];
}

/// The messages of the connection manager that can be lost, by the event that they would cause.
enum class CmEvent : uint8_t {
  kConnectRequest,
  kConnectResponse,
  kEstablished,
  kRejected,
  kDisconnected,
};

inline constexpr std::array<std::string_view, 5> kCmEventNames{
    "connect-request", "connect-response", "established", "rejected", "disconnected"};

inline constexpr std::string_view name_of(CmEvent event) {
  return kCmEventNames[static_cast<size_t>(event)];
}

/// One fault that is asked for, and how often.
struct FaultRule {
  Fault fault = Fault::kError;
  uint64_t strikes = 1;  ///< It strikes `strikes` of `chances` times, at random; 0 for never.
  uint64_t chances = 1;
  uint64_t after = 0;                    ///< So many chances are let pass at first.
  uint64_t most = UINT64_MAX;            ///< It strikes no more often than that.
  std::chrono::microseconds time{1000};  ///< Delays: at most; a stall: exactly.
  std::optional<int> status;             ///< Errors: an ibv_wc_status; any that fits if not given.
  std::optional<CmEvent> event;          ///< Lost messages: which; any if not given.
  std::optional<int> device;             ///< Outages: of which device; of each if not given.
  std::string program;                   ///< In programs of this name only; in each when empty.
};

/// Everything that SOFTVERBS_FAULTS, or the file that it names, asks for.
struct FaultPlan {
  std::vector<FaultRule> rules;
  std::string log;  ///< A file that gets a line for each fault; none when empty.
  /// How long the connection manager waits for an answer.
  std::chrono::milliseconds cm_timeout{60'000};

  /// Understands a specification: items with commas or line ends between them, and comments from #
  /// to the end of a line.
  /// Throws std::invalid_argument, whose text says what is wrong.
  static FaultPlan parse(std::string_view text);
};

/// Understands SOFTVERBS_SEED: a number, or nothing for 0. Throws as FaultPlan::parse() does.
uint64_t parse_seed(std::string_view text);

}  // namespace softverbs
