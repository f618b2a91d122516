#include "tests/fuzz/greeting_witness.h"

#include "common/auth/queue_proof.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/known_clients.h"

namespace rdmablk::fuzz {

using protocol::MessageType;
using protocol::Status;

void GreetingWitness::on_sent(const protocol::Message& message) {
  const MessageType type = message.header.type;
  if (message.header.is_reply) return;
  require(!has_left_, "the reason to leave is the last word");
  has_left_ = type == MessageType::error;
  const bool is_greeting = type == MessageType::hello || type == MessageType::authenticate;
  require(is_greeting || has_left_ || !has_key_ || has_proof_,
          "a target without the key is told nothing");
  asked_ = message.header.tag;
  if (type == MessageType::hello) hello_.assign(message.payload.begin(), message.payload.end());
  if (type != MessageType::authenticate) return;
  const auto request = protocol::Authenticate::decode(message.payload);
  require(request.has_value(), "AUTHENTICATE is well formed");
  check_proof(*request);
}

void GreetingWitness::check_proof(const protocol::Authenticate& request) {
  require(has_key_ && is_asked_, "whoever has a key proves it, when asked");
  require(request.client == kClients[0], "it says who it is");
  handshake_.emplace(hello_, hello_reply_, request.client, request.nonce);
  require(request.proof == handshake_->client_proof(key_of_number(0)), "it proves that it is");
}

void GreetingWitness::on_delivered(std::span<const std::byte> bytes) {
  const auto message = protocol::decode_message(bytes);
  if (!message || !message->header.is_reply || message->header.tag != asked_) return;
  asked_.reset();
  if (message->header.status != Status::ok) return;
  if (message->header.type == MessageType::hello) {
    hello_reply_.assign(message->payload.begin(), message->payload.end());
    const auto reply = protocol::HelloReply::decode(message->payload);
    is_asked_ = reply && reply->authentication != protocol::Authentication::none;
  } else if (message->header.type == MessageType::authenticate && handshake_) {
    const auto reply = protocol::AuthenticateReply::decode(message->payload);
    has_proof_ = reply && reply->proof == handshake_->target_proof(key_of_number(0));
  }
}

void GreetingWitness::on_connect(std::span<const std::byte> private_data) const {
  const auto request = protocol::QueueRequest::decode(private_data);
  require(request.has_value(), "a request to connect is well formed");
  if (!has_key_ || request->queue == protocol::kAdminQueue) return;
  require(has_proof_, "a target without the key gets no queue");
  const auth::Key key = handshake_->session_key(key_of_number(0));
  require(request->proof == auth::queue_proof(key, *request), "a queue proves its session");
}

void GreetingWitness::on_open() const {
  require(has_key_ ? has_proof_ : !is_asked_, "a session is open when both ends are sure");
}

protocol::AuthenticateReply GreetingWitness::proof(unsigned wrong) const {
  const auth::Key key = key_of_number((wrong & 1U) != 0 ? 1 : 0);
  protocol::Token proof =
      (wrong & 2U) != 0 ? handshake_->client_proof(key) : handshake_->target_proof(key);
  if ((wrong & 4U) != 0) proof[wrong >> 3U] ^= std::byte{1};
  return {proof};
}

}  // namespace rdmablk::fuzz
