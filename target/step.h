#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/protocol/use_report.h"
#include "target/outgoing.h"

namespace rdmablk::target {

class Attachment;
class Lease;

/// An ATTACH that waits for a lease.
struct LeaseWait {
  std::uint64_t ticket = 0;  ///< names it among those of its session
  Lease* lease = nullptr;
  bool takes_over = false;
};

/// An ATTACH that waits until the export is registered with the session's device.
struct RegistrationWait {
  std::uint64_t ticket = 0;  ///< as in LeaseWait
  std::string export_name;
};

/// A TABLE, to be answered with what lies on the device of that queue.
struct TableQuestion {
  std::uint64_t tag = 0;
  std::uint64_t attachment = 0;
  std::uint64_t number = 0;
  std::uint16_t queue = 0;
};

/// What an initiator says that it has done with an export since it said so the last time.
struct ReportedUse {
  std::string export_name;
  protocol::Use use;
};

/// What has to be done after a message, in this order.
struct Step {
  std::optional<std::uint64_t> detached;      ///< destroy the I/O queues of this attachment
  bool joins = false;                         ///< see SessionProtocol::join()
  std::optional<LeaseWait> waits;             ///< see SessionProtocol::retry_attach()
  std::optional<RegistrationWait> registers;  ///< see SessionProtocol::go_on_attaching()
  std::optional<TableQuestion> asks;          ///< see SessionProtocol::answer_table()
  std::optional<std::uint64_t> fences;  ///< end this attachment, which may be another session's
  std::vector<ReportedUse> uses;        ///< count these
  std::optional<Outgoing> send;
  const Attachment* attached = nullptr;  ///< is new; valid until it is detached
  bool greeted = false;                  ///< the session is one now
  bool acknowledged = false;             ///< the peer knows that the target is about to end
  std::optional<std::string> over;       ///< end the session; why
};

/// The step that answers a request.
inline Step answer(protocol::MessageType type, std::uint64_t tag, Outgoing::Payload payload,
                   protocol::Status status = protocol::Status::ok) {
  Step step;
  step.send = Outgoing{protocol::Header{type, true, status, tag}, std::move(payload)};
  return step;
}

/// The step that refuses a request. @param reason for people.
inline Step refuse(protocol::MessageType type, std::uint64_t tag, protocol::Status status,
                   std::string reason) {
  return answer(type, tag, protocol::Reason{std::move(reason)}, status);
}

}  // namespace rdmablk::target
