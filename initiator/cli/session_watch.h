#pragma once

#include "initiator/connection_options.h"
#include "initiator/session.h"

namespace rdmablk::cli {

/// For a command that asks a target something, and does not wait for one that is gone.
inline initiator::SessionOptions tool_options(std::chrono::milliseconds timeout,
                                              const initiator::ConnectionOptions& connection,
                                              std::optional<initiator::Credentials> credentials) {
  initiator::SessionOptions options;
  connection.apply_to(options);
  options.credentials = std::move(credentials);
  options.timeout = timeout;
  options.recovery.fail_fast = std::chrono::milliseconds(0);
  options.recovery.give_up = std::chrono::milliseconds(0);
  return options;
}

/// Watches a session's connections while it lives. Made after the session's queues, and gone before
/// them.
class SessionWatch {
 public:
  explicit SessionWatch(initiator::Session& session) : session_(session) { session_.start(); }
  ~SessionWatch() { session_.stop(); }
  SessionWatch(const SessionWatch&) = delete;
  SessionWatch& operator=(const SessionWatch&) = delete;

 private:
  initiator::Session& session_;
};

}  // namespace rdmablk::cli
