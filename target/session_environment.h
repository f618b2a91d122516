#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <string>

#include "common/log_limiter.h"
#include "common/protocol/messages.h"
#include "target/client_budgets.h"
#include "target/client_keys.h"
#include "target/client_log.h"
#include "target/client_reports.h"
#include "target/counters.h"
#include "target/io_threads.h"
#include "target/limits.h"
#include "target/queue_drain.h"

namespace rdmablk::target {

class Registrar;
class Session;

/// What a session asks of those who have all of them.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;

  /// It is known who a session is with: admits it when nothing is left of one that it resumes, with
  /// Session::admit(), or turns it away; maybe from within.
  virtual void on_session_joins(Session& session) = 0;

  /// It ends, but its initiator is told why first. Said once at most.
  virtual void on_session_leaves(Session& session) = 0;

  /// Ends an attachment of any session: its queues are closed, its lease is free when they are
  /// through.
  /// @param taker for whom, for people.
  virtual void fence(std::uint64_t attachment, const std::string& taker) = 0;

  /// Destroys the session soon, but not from within this call. Said once.
  virtual void on_session_over(Session& session) = 0;
};

/// What the sessions of a target share; outlives them.
struct SessionEnvironment {
  asio::io_context& io;
  Counters& counters;
  const Limits& limits;
  protocol::InstanceId target;
  IoThreads& io_threads;
  QueueDrain& drain;
  ClientBudgets& budgets;
  ClientBudgets& queues;   ///< I/O queues that are connected, or whose last one is not through
  const ClientKeys* keys;  ///< null when nobody is asked who they are
  ClientLog& log;          ///< what clients do
  LogLimiter& strangers;   ///< who came and never got in
  Registrar& registrar;    ///< has exports registered with devices
  ClientReports* reports = nullptr;  ///< what they say that they have done; null: not kept
};

}  // namespace rdmablk::target
