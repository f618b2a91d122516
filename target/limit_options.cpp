#include "target/limit_options.h"

#include <fmt/format.h>

#include <optional>

#include "common/error.h"
#include "common/units.h"
#include "target/options.h"

namespace rdmablk::target {
namespace {

constexpr double kMaxSeconds = 3600;
constexpr double kMinHandshake = 0.01;
constexpr double kMinKeepalive = 0.1;
constexpr std::uint64_t kMinSlotMemory = 4096;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

/// The library's own check lets through what is no number.
std::optional<double> seconds_from(const std::string& text, double least) {
  double value = 0;
  if (!CLI::detail::lexical_cast(text, value)) return std::nullopt;
  if (!(value >= least && value <= kMaxSeconds)) return std::nullopt;
  return value;
}

std::string is_time(const std::string& text) {
  if (seconds_from(text, kMinHandshake)) return {};
  return fmt::format("'{}' is no number of seconds from {} to {}", text, kMinHandshake,
                     kMaxSeconds);
}

/// A shorter interval than kMinKeepalive is missed by who merely was not scheduled in time.
std::string is_interval(const std::string& text) {
  if (seconds_from(text, kMinKeepalive) || seconds_from(text, 0) == 0) return {};
  return fmt::format("'{}' is neither 0 nor a number of seconds from {} to {}", text, kMinKeepalive,
                     kMaxSeconds);
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
      ->check(is_time)
      ->capture_default_str();
  app.add_option(
         "--keepalive", keepalive_,
         "How often an initiator has to say something, in seconds; one that is silent three "
         "times as long loses its session. 0: it need not")
      ->type_name("SECONDS")
      ->check(is_interval)
      ->capture_default_str();
  app.add_option("--max-sessions", max_sessions_, "Sessions at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--max-client-sessions", max_client_sessions_,
                 "Sessions of one client, or of one address where nobody is authenticated")
      ->type_name("N")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--max-session-queues", max_session_queues_, "I/O queues of one session")
      ->type_name("N")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--max-client-queues", max_client_queues_,
                 "I/O queues of all sessions of one client, or of one address where nobody is "
                 "authenticated")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--max-handshakes", max_handshakes_,
                 "Peers that have connected and not said who they are, or were refused; when there "
                 "are as many, the oldest one of the host with the most gives way to the next")
      ->type_name("N")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option(
         "--admin-rate", admin_rate_,
         "Messages a second that a session is listened to on its admin queue; 0: any number")
      ->type_name("N")
      ->check(CLI::Range(0U, 1'000'000U))
      ->capture_default_str();
  app.add_option("--client-slot-memory", client_slot_memory_,
                 "How much of --slot-memory the sessions of one client, or address, may use; half "
                 "of it by default")
      ->type_name("SIZE");
}

void LimitOptions::apply(Options& options) const {
  Limits& limits = options.limits;
  limits.handshake = milliseconds(handshake_timeout_);
  limits.keepalive = milliseconds(keepalive_);
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
