#include "target/limit_options.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/seconds.h"
#include "common/units.h"
#include "target/option_kinds.h"
#include "target/options.h"

namespace rdmablk::target {
namespace {

constexpr std::uint64_t kMaxSeconds = 3600;
constexpr std::chrono::milliseconds kMinHandshake{10};
/// A shorter interval is missed by who merely was not scheduled in time.
constexpr std::chrono::milliseconds kMinKeepalive{100};
constexpr std::uint64_t kMaxCount = 65535;
constexpr std::uint64_t kMaxClientQueues = 1'000'000;
constexpr std::uint64_t kMaxRate = 1'000'000;
constexpr std::uint64_t kMinSlotMemory = 4096;
constexpr std::uint64_t kMaxSlotMemory = std::uint64_t{1} << 50;

std::chrono::milliseconds read_time(std::string_view flag, const std::string& text,
                                    std::chrono::milliseconds least, bool may_be_zero) {
  const auto time = parse_seconds(text, kMaxSeconds);
  if (time && (*time >= least || (may_be_zero && time->count() == 0))) return *time;
  throw UsageError(fmt::format("{} takes {}seconds, such as 0.5 or 30, from {:g} to {}, not '{}'",
                               flag, may_be_zero ? "0, or " : "", in_seconds(least), kMaxSeconds,
                               text));
}

}  // namespace

std::uint64_t parse_memory(std::string_view flag, const std::string& text, std::uint64_t least,
                           std::uint64_t most) {
  const auto size = parse_size(text);
  if (!size || *size < least || *size > most || *size % kSectorSize != 0) {
    throw UsageError(fmt::format("{} is '{}': it takes a multiple of {} bytes from {} to {}", flag,
                                 text, kSectorSize, format_size(least), format_size(most)));
  }
  return *size;
}

void describe_limits(CLI::App& app, Options& options) {
  Limits& limits = options.limits;
  add_text(
      app, "--handshake-timeout", kSeconds,
      [&](const std::string& text) {
        limits.handshake = read_time("--handshake-timeout", text, kMinHandshake, false);
      },
      "How long a peer that has connected may take to say who it is, in seconds")
      ->default_str("10");
  add_text(
      app, "--keepalive", kSeconds,
      [&](const std::string& text) {
        limits.keepalive = read_time("--keepalive", text, kMinKeepalive, true);
      },
      "How often an initiator has to say something, in seconds; one that is silent three "
      "times as long loses its session. 0: it need not")
      ->default_str("5");
  add_number(app, "--max-sessions", limits.sessions, 1, kMaxCount, "Sessions at a time");
  add_number(app, "--max-client-sessions", limits.client_sessions, 1, kMaxCount,
             "Sessions of one client, or of one address where nobody is authenticated");
  add_number(app, "--max-session-queues", limits.session_queues, 1, kMaxCount,
             "I/O queues of one session");
  add_number(app, "--max-client-queues", limits.client_queues, 1, kMaxClientQueues,
             "I/O queues of all sessions of one client, or of one address where nobody is "
             "authenticated");
  add_number(app, "--max-handshakes", limits.handshakes, 1, kMaxCount,
             "Peers that have connected and not said who they are, or were refused; when there are "
             "as many, the oldest one of the host with the most gives way to the next");
  add_number(app, "--admin-rate", limits.admin_rate, 0, kMaxRate,
             "Messages a second that a session is listened to on its admin queue; 0: any number");
  add_text(
      app, "--client-slot-memory", kSize,
      [&](const std::string& text) {
        options.client_slot_memory =
            parse_memory("--client-slot-memory", text, kMinSlotMemory, kMaxSlotMemory);
      },
      "How much of --slot-memory the sessions of one client, or address, may use; half "
      "of it by default");
}

}  // namespace rdmablk::target
