#pragma once

#include "initiator/session.h"

namespace rdmablk::cli {

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
