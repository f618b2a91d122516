#include "target/limit_options.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/units.h"
#include "target/number_option.h"
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

std::chrono::milliseconds read_time(std::string_view flag, const std::string& text,
                                    std::chrono::milliseconds least, bool may_be_zero) {
  const auto time = parse_seconds(text, kMaxSeconds);
  if (time && (*time >= least || (may_be_zero && time->count() == 0))) return *time;
  throw UsageError(fmt::format("{} takes {}seconds, such as 0.5 or 30, from {:g} to {}, not '{}'",
                               flag, may_be_zero ? "0, or " : "",
                               std::chrono::duration<double>(least).count(), kMaxSeconds, text));
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

void LimitOptions::describe(CLI::App& app) {
  app.add_option("--handshake-timeout", handshake_timeout_,
                 "How long a peer that has connected may take to say who it is, in seconds")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option(
         "--keepalive", keepalive_,
         "How often an initiator has to say something, in seconds; one that is silent three "
         "times as long loses its session. 0: it need not")
      ->type_name("SECONDS")
      ->capture_default_str();
  add_number(app, "--max-sessions", max_sessions_, 1, kMaxCount, "Sessions at a time");
  add_number(app, "--max-client-sessions", max_client_sessions_, 1, kMaxCount,
             "Sessions of one client, or of one address where nobody is authenticated");
  add_number(app, "--max-session-queues", max_session_queues_, 1, kMaxCount,
             "I/O queues of one session");
  add_number(app, "--max-client-queues", max_client_queues_, 1, kMaxClientQueues,
             "I/O queues of all sessions of one client, or of one address where nobody is "
             "authenticated");
  add_number(app, "--max-handshakes", max_handshakes_, 1, kMaxCount,
             "Peers that have connected and not said who they are, or were refused; when there are "
             "as many, the oldest one of the host with the most gives way to the next");
  add_number(app, "--admin-rate", admin_rate_, 0, kMaxRate,
             "Messages a second that a session is listened to on its admin queue; 0: any number");
  app.add_option("--client-slot-memory", client_slot_memory_,
                 "How much of --slot-memory the sessions of one client, or address, may use; half "
                 "of it by default")
      ->type_name("SIZE");
}

void LimitOptions::apply(Options& options) const {
  Limits& limits = options.limits;
  limits.handshake = read_time("--handshake-timeout", handshake_timeout_, kMinHandshake, false);
  limits.keepalive = read_time("--keepalive", keepalive_, kMinKeepalive, true);
  limits.sessions = max_sessions_;
  limits.client_sessions = max_client_sessions_;
  limits.session_queues = max_session_queues_;
  limits.client_queues = max_client_queues_;
  limits.handshakes = max_handshakes_;
  limits.admin_rate = admin_rate_;
  if (!client_slot_memory_) return;
  options.client_slot_memory = parse_memory("--client-slot-memory", *client_slot_memory_,
                                            kMinSlotMemory, options.slot_memory);
}

}  // namespace rdmablk::target
