#include "tests/fuzz/session_witness.h"

#include <algorithm>

#include "tests/fuzz/input.h"
#include "tests/fuzz/target_world.h"

namespace rdmablk::fuzz {
namespace {

using protocol::Access;
using protocol::MessageType;
using protocol::Status;

const target::Limits& limits() {
  return TargetWorld::get().limits();
}

std::vector<std::byte> encode(const target::Outgoing& sent) {
  std::vector<std::byte> buffer(protocol::kMaxMessage - protocol::kHeaderSize);
  protocol::WireWriter writer(buffer);
  sent.encode(writer);
  require(writer.ok(), "a message fits");
  buffer.resize(writer.size());
  return buffer;
}

}  // namespace

/// Whoever it says to be, with a key that this client has now, over what was really said.
std::optional<SessionWitness::Proved> SessionWitness::proved_by(
    const protocol::Header& header, std::span<const std::byte> payload) const {
  if (!challenged_ || over_ || header.is_reply || header.type != MessageType::authenticate) {
    return std::nullopt;
  }
  const auto request = protocol::Authenticate::decode(payload);
  if (!request) return std::nullopt;
  const auth::Handshake handshake(hello_, hello_reply_, request->client, request->nonce);
  const auto key = keys_->match(request->client, handshake, request->proof);
  if (!key) return std::nullopt;
  return Proved{request->client, handshake.session_key(*key), handshake.target_proof(*key)};
}

void SessionWitness::on_message(const protocol::Header& header,
                                std::span<const std::byte> payload) {
  if (keys_ == nullptr || greeted_) return;
  if (auto proved = proved_by(header, payload)) proved_ = std::move(proved);
  if (!challenged_ && header.type == MessageType::hello) {
    hello_.assign(payload.begin(), payload.end());
  }
}

void SessionWitness::on_step(const protocol::Header& header, const target::Step& step) {
  if (over_) {
    require(!step.send && !step.attached && !step.detached && !step.joins && !step.greeted &&
                !step.over,
            "nothing is said after the end");
    return;
  }
  check_join(header, step);
  if (step.fences) known_.erase(*step.fences);
  if (step.detached) require(known_.erase(*step.detached) == 1, "what is detached was attached");
  if (step.attached != nullptr) check_attached(*step.attached);
  if (step.send) check_sent(header, *step.send);
  if (step.over) over_ = true;
}

void SessionWitness::check_join(const protocol::Header& header, const target::Step& step) {
  const auto opens = keys_ == nullptr ? MessageType::hello : MessageType::authenticate;
  if (step.joins) {
    require(!greeted_ && header.type == opens, "one HELLO is accepted, or its proof");
    require(keys_ == nullptr || proved_, "nobody joins without a proof");
  } else if (challenged_ && header.type == MessageType::authenticate && !step.greeted) {
    require(step.over.has_value(), "there is one attempt");
    require(!proved_ || !step.send || step.send->header.status != Status::unauthorized,
            "whoever proves who it is joins");
  }
  if (!step.greeted) return;
  require(!greeted_ && header.type == opens, "a session is greeted once");
  greeted_ = true;
  if (!proved_) return;
  client_ = proved_->client;
  session_key_ = proved_->session_key;
  const auto* const reply = std::get_if<protocol::AuthenticateReply>(&step.send->payload);
  require(reply != nullptr && reply->proof == proved_->target_proof, "the target proves itself");
}

void SessionWitness::check_attached(const target::Attachment& made) {
  const auto& reply = made.reply();
  require(greeted_ && !leaving_, "nothing is attached before HELLO, or at the end");
  for (const auto& [id, other] : known_) {
    require(reply.lease == 0 || other.reply.lease == 0 || other.reply.info.name != reply.info.name,
            "an export has one writer");
  }
  require(known_.emplace(made.id(), Known{reply, {}}).second, "attachments differ");
  require(known_.size() <= limits().attachments, "attachments are limited");
  require(reply.queues > 0 && reply.queues <= limits().queues, "queues are limited");
  require(reply.depth > 0 && reply.depth <= limits().depth, "depth is limited");
  require(reply.max_io > 0 && reply.max_io <= limits().max_io, "requests are limited");
  require(reply.access == Access::read_only || !reply.info.read_only,
          "nobody writes to a read-only export");
  const auto most = may_have(reply.info.name, address_);
  require(most && reply.access <= *most, "nothing is attached that the rules forbid");
  const auto& budget = TargetWorld::get().budget();
  require(budget.used() <= budget.limit(), "memory for slots is limited");
}

void SessionWitness::check_sent(const protocol::Header& header, const target::Outgoing& sent) {
  const auto payload = encode(sent);
  if (!greeted_) check_early(sent);
  if (sent.header.type == MessageType::error) return;
  require(sent.header.is_reply && sent.header.type == header.type && sent.header.tag == header.tag,
          "what is sent answers what came");
  require(
      sent.header.status == Status::ok || std::holds_alternative<protocol::Reason>(sent.payload),
      "a refusal says why");
  check_seen(sent);
  if (std::holds_alternative<protocol::HelloReply>(sent.payload)) hello_reply_ = payload;
}

/// Before it is known who it is.
void SessionWitness::check_early(const target::Outgoing& sent) {
  if (sent.header.type == MessageType::error) return;
  const auto* const reply = std::get_if<protocol::HelloReply>(&sent.payload);
  require(sent.header.status != Status::ok || reply != nullptr, "nothing is served before HELLO");
  if (reply == nullptr) return;
  require(keys_ != nullptr && !challenged_, "HELLO alone opens a session only without keys");
  require(reply->authentication == protocol::Authentication::pre_shared_key &&
              reply->nonce != protocol::Token{},
          "a proof is asked for");
  challenged_ = true;
}

/// What this client may not have, it does not see.
void SessionWitness::check_seen(const target::Outgoing& sent) const {
  if (const auto* const list = std::get_if<protocol::ListReply>(&sent.payload)) {
    for (const protocol::ExportInfo& info : list->exports) {
      const auto most = may_have(info.name, address_);
      require(most.has_value(), "no export is shown that the rules forbid");
      require(info.read_only || *most == Access::read_write, "it is shown as it may be had");
    }
  }
  if (sent.header.status != Status::no_export) return;
  const std::string_view text = std::get<protocol::Reason>(sent.payload).text;
  const auto named = text.substr(std::min(text.rfind("those there are"), text.size()));
  for (const char* const name : TargetWorld::kNames) {
    require(may_have(name, address_) || named.find(name) == std::string_view::npos,
            "no export is named that the rules forbid");
  }
}

std::optional<Access> SessionWitness::may_have(std::string_view name, const char* from) const {
  return TargetWorld::may_have(name, client_, from);
}

void SessionWitness::on_admitted(const protocol::QueueRequest& request, bool proves,
                                 const char* from) {
  require(!over_ && !leaving_ && greeted_, "a session that is not open takes no queue");
  const auto found = known_.find(request.attachment);
  require(found != known_.end() && proves, "a queue proves its attachment");
  Known& known = found->second;
  require(request.queue < known.reply.queues, "no more queues than were granted");
  const auto most = may_have(known.reply.info.name, from);
  require(most && known.reply.access <= *most, "a queue comes from where the rules allow it");
  const auto before = known.queues.find(request.queue);
  require(before == known.queues.end() || before->second.epoch < request.epoch, "epochs ascend");
  known.queues[request.queue] = request;
}

void SessionWitness::on_refused(const protocol::QueueRefusal& refusal) {
  require(refusal.status != Status::ok && !refusal.text.empty(), "a refusal says why");
}

void SessionWitness::on_farewell(const target::Outgoing& notice) {
  require(!over_ && !leaving_ && greeted_, "a peer of a session is told once that it ends");
  leaving_ = true;
  encode(notice);
}

void SessionWitness::on_abandoned(const target::Outgoing& last) {
  encode(last);
  over_ = true;
}

}  // namespace rdmablk::fuzz
