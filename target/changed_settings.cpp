#include "target/changed_settings.h"

#include <tuple>

namespace rdmablk::target {

std::vector<std::string> changed_settings(const Options& before, const Options& now) {
  std::vector<std::string> names;
  const auto compare = [&](const char* name, const auto& one, const auto& other) {
    if (one != other) names.emplace_back(name);
  };
  compare("--listen", before.listen, now.listen);
  const cm::Settings& was = before.connections;
  const cm::Settings& is = now.connections;
  compare("--device", std::tie(was.device, was.port), std::tie(is.device, is.port));
  compare("--gid-index", was.gid_index, is.gid_index);
  compare("--pkey-index", was.pkey_index, is.pkey_index);
  compare("--service-level", was.service_level, is.service_level);
  compare("--traffic-class", was.traffic_class, is.traffic_class);
  compare("--path-mtu", was.path_mtu, is.path_mtu);
  compare("--ack-timeout", was.ack_timeout, is.ack_timeout);
  compare("--retries", was.retries, is.retries);
  compare("--metrics", before.metrics, now.metrics);
  compare("--state-dir", before.state_directory, now.state_directory);
  compare("--auth", before.key_file, now.key_file);
  compare("--log-level", before.log_level, now.log_level);
  compare("--io-threads", before.io_threads, now.io_threads);
  compare("--slot-memory", before.slot_memory, now.slot_memory);
  compare("--client-slot-memory", before.client_slot_memory, now.client_slot_memory);
  compare("--show-paths", before.show_paths, now.show_paths);
  const Limits& a = before.limits;
  const Limits& b = now.limits;
  compare("--slots", a.slots, b.slots);
  compare("--slot-size", a.slot_size, b.slot_size);
  compare("--handshake-timeout", a.handshake, b.handshake);
  compare("--keepalive", a.keepalive, b.keepalive);
  compare("--max-sessions", a.sessions, b.sessions);
  compare("--max-client-sessions", a.client_sessions, b.client_sessions);
  compare("--max-session-queues", a.session_queues, b.session_queues);
  compare("--max-client-queues", a.client_queues, b.client_queues);
  compare("--max-handshakes", a.handshakes, b.handshakes);
  compare("--admin-rate", a.admin_rate, b.admin_rate);
  return names;
}

}  // namespace rdmablk::target
