#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/auth/handshake.h"
#include "common/protocol/private_data.h"
#include "target/attachment.h"
#include "target/client_keys.h"
#include "target/step.h"

namespace rdmablk::fuzz {

/// What an initiator knows of an attachment.
struct Known {
  protocol::AttachReply reply;
  std::map<std::uint16_t, protocol::QueueRequest> queues;  ///< the last that was admitted of each
};

/// Follows a session of a target from outside, and finds out when it does what it must not.
class SessionWitness {
 public:
  /// @param keys of the clients, which may change; null: nobody is asked.
  /// @param address where the initiator is.
  SessionWitness(const target::ClientKeys* keys, const char* address)
      : keys_(keys), address_(address) {}

  /// Before a message is handled.
  void on_message(const protocol::Header& header, std::span<const std::byte> payload);
  /// What was made of it, or of what `header` belongs to.
  void on_step(const protocol::Header& header, const target::Step& step);
  /// A request to connect a queue was let in. @param proves as its attachment demands it.
  void on_admitted(const protocol::QueueRequest& request, bool proves, const char* from);
  void on_refused(const protocol::QueueRefusal& refusal);
  void on_farewell(const target::Outgoing& notice);
  void on_abandoned(const target::Outgoing& last);

  bool is_over() const noexcept { return over_; }
  std::map<std::uint64_t, Known>& known() noexcept { return known_; }

  /// The payloads of HELLO and its answer, as they travelled.
  const std::vector<std::byte>& hello() const noexcept { return hello_; }
  const std::vector<std::byte>& hello_reply() const noexcept { return hello_reply_; }

  /// The key of the session, once both ends have proved themselves.
  const std::optional<auth::Key>& session_key() const noexcept { return session_key_; }

 private:
  /// A right AUTHENTICATE, and what has to follow from it.
  struct Proved {
    std::string client;
    auth::Key session_key;
    protocol::Token target_proof;
  };

  std::optional<Proved> proved_by(const protocol::Header& header,
                                  std::span<const std::byte> payload) const;
  void check_join(const protocol::Header& header, const target::Step& step);
  void check_attached(const target::Attachment& made);
  void check_sent(const protocol::Header& header, const target::Outgoing& sent);
  void check_early(const target::Outgoing& sent);
  void check_seen(const target::Outgoing& sent) const;
  std::optional<protocol::Access> may_have(std::string_view name, const char* from) const;

  const target::ClientKeys* keys_;
  const char* address_;
  std::string client_;
  std::vector<std::byte> hello_;
  std::vector<std::byte> hello_reply_;
  bool challenged_ = false;       ///< HELLO was answered with the wish for a proof
  std::optional<Proved> proved_;  ///< by the message that is handled now, or that joins
  std::optional<auth::Key> session_key_;
  std::map<std::uint64_t, Known> known_;
  bool greeted_ = false;
  bool leaving_ = false;
  bool over_ = false;
};

}  // namespace rdmablk::fuzz
