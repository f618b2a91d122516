#include "initiator/authentication.h"

#include <fmt/format.h>

#include <vector>

#include "common/auth/hmac.h"
#include "common/known_error.h"
#include "common/protocol/wire.h"
#include "common/random.h"

namespace rdmablk::initiator {
namespace {

using protocol::Authentication;
using protocol::MessageType;

/// A HELLO's answer and its bytes, which the proofs cover.
struct WholeReply {
  protocol::HelloReply reply;
  std::vector<std::byte> payload;

  static std::optional<WholeReply> decode(std::span<const std::byte> payload) {
    const auto reply = protocol::HelloReply::decode(payload);
    if (!reply) return std::nullopt;
    return WholeReply{*reply, {payload.begin(), payload.end()}};
  }
};

template <typename Message>
std::vector<std::byte> encode(const Message& message) {
  std::vector<std::byte> bytes(protocol::kMaxMessage);
  protocol::WireWriter writer(bytes);
  message.encode(writer);
  bytes.resize(writer.size());
  return bytes;
}

/// The target does not say to a stranger what is wrong.
protocol::AuthenticateReply authenticate(AdminLink& admin, const std::string& doing,
                                         const protocol::Authenticate& request,
                                         ControlLoop::Clock::time_point deadline) {
  try {
    return admin.ask<protocol::AuthenticateReply>(
        fmt::format("{} as client '{}'", doing, request.client), MessageType::authenticate, request,
        deadline);
  } catch (const RefusedError& error) {
    if (error.status() != protocol::Status::unauthorized) throw;
    throw RefusedError(
        fmt::format("{}; the target's key file (--auth) has no line of this client with this key, "
                    "and its log says what it has",
                    error.what()),
        error.status());
  }
}

}  // namespace

void check_greeting(const std::string& doing, const protocol::HelloReply& reply, bool has_key) {
  if (reply.version != protocol::kVersion) {
    throw KnownError(
        EPROTONOSUPPORT,
        fmt::format("cannot {}: it speaks version {} of the protocol, this end version {}", doing,
                    reply.version, protocol::kVersion));
  }
  const bool wants_key = reply.authentication != Authentication::none;
  if (wants_key && !has_key) {
    throw KnownError(
        EACCES, fmt::format("cannot {}: it asks who this is; give --keyfile FILE, or keyfile=FILE "
                            "to a mount, with the key that its administrator has made",
                            doing));
  }
  if (!wants_key && has_key) {
    throw KnownError(
        EACCES,
        fmt::format("cannot {}: it does not prove who it is, as whoever has the key would; "
                    "somebody else may answer there, or it runs with --insecure (then leave "
                    "the key file out)",
                    doing));
  }
}

MutualProof::MutualProof(std::span<const std::byte> hello, std::span<const std::byte> reply,
                         const Credentials& credentials)
    : credentials_(credentials),
      nonce_(random_bytes<protocol::Token>()),
      handshake_(hello, reply, credentials.client(), nonce_) {}

protocol::Authenticate MutualProof::request() const {
  return {credentials_.client(), nonce_, handshake_.client_proof(credentials_.key())};
}

auth::Key MutualProof::verify(const std::string& doing,
                              const protocol::AuthenticateReply& reply) const {
  if (!auth::equal_in_constant_time(reply.proof, handshake_.target_proof(credentials_.key()))) {
    throw KnownError(
        EACCES, fmt::format("cannot {}: it does not have the key of client '{}', so it is not the "
                            "target that this key is for",
                            doing, credentials_.client()));
  }
  return handshake_.session_key(credentials_.key());
}

Greeting greet(AdminLink& admin, const std::string& doing, const protocol::Hello& hello,
               const Credentials* credentials, ControlLoop::Clock::time_point deadline) {
  const auto answer = admin.ask<WholeReply>(doing, MessageType::hello, hello, deadline);
  try {
    check_greeting(doing, answer.reply, credentials != nullptr);
  } catch (const Error& error) {
    admin.complain(error.what());
    throw;
  }
  if (credentials == nullptr) return {answer.reply, std::nullopt};
  const MutualProof proof(encode(hello), answer.payload, *credentials);
  const auto proved = authenticate(admin, doing, proof.request(), deadline);
  return {answer.reply, proof.verify(doing, proved)};
}

}  // namespace rdmablk::initiator
