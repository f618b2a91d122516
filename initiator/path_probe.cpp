#include "initiator/path_probe.h"

#include <fmt/format.h>

#include <asio/post.hpp>

#include "common/error.h"
#include "common/protocol/private_data.h"
#include "common/verbs/context.h"

namespace rdmablk::initiator {

PathProbe::PathProbe(ControlLoop& loop, const SocketAddress& peer,
                     std::chrono::milliseconds patience, std::function<void(const Result&)> ended)
    : loop_(loop), ended_(std::move(ended)), timer_(loop.io()) {
  timer_.expires_after(patience);
  timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error) end("no answer in time");
  }));
  try {
    connection_ = loop.connections().open(peer, *this);
  } catch (const Error& error) {
    end(error.what());
  }
}

PathProbe::~PathProbe() = default;

/// Later: not from within an event of the connection, nor the constructor.
void PathProbe::end(std::optional<std::string> failure) {
  if (has_ended_) return;
  has_ended_ = true;
  asio::post(loop_.io(), lifetime_.guard([this, result = Result{std::move(failure), device_}] {
    const auto ended = ended_;  // outlives this
    ended(result);
  }));
}

void PathProbe::connect() {
  try {
    ibv_context* const device = connection_->device();
    device_ = verbs::device_name(device);
    pd_ = std::make_unique<verbs::ProtectionDomain>(device);
    const verbs::QueuePairOptions options;
    completions_ = std::make_unique<verbs::CompletionChannel>(device);
    cq_ = std::make_unique<verbs::CompletionQueue>(
        device, options.send_requests + options.receive_requests, completions_.get());
    watch_.emplace(loop_.io(), completions_->fd(), [this] { poll(); });
    connection_->create_queue_pair(*pd_, *cq_, options);
    connection_->connect(protocol::QueueRequest{}.encode());
  } catch (const Error& error) {
    end(error.what());
  }
}

/// The words of setting up may have gone another way (--cm tcp), which nothing shall be concluded
/// from: a READ of no bytes names no memory, and is answered by the device (InfiniBand
/// specification, C9-88). On iWARP they went the same way.
void PathProbe::read() {
  if (verbs::is_iwarp(connection_->device())) return end(std::nullopt);
  ibv_send_wr work{};
  work.opcode = IBV_WR_RDMA_READ;
  work.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* unposted = nullptr;
  cq_->arm();
  const int error = connection_->queue_pair().post_send(work, unposted);
  if (error != 0) end(errno_text(error));
}

void PathProbe::poll() {
  completions_->drain();
  cq_->arm();
  ibv_wc completion{};
  if (cq_->poll({&completion, 1}) == 0) return;
  if (completion.status == IBV_WC_SUCCESS) return end(std::nullopt);
  end(fmt::format("connected, but RDMA does not get through: {}", verbs::describe(completion)));
}

void PathProbe::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::resolved:
      return connect();
    case cm::EventType::established:
      return read();
    case cm::EventType::rejected:
      // Whoever says no is there.
      if (event.refusal == cm::Refusal::by_peer) return end(std::nullopt);
      return end(event.refusal == cm::Refusal::no_listener ? "nothing listens there"
                                                           : "the connection was refused");
    case cm::EventType::failed:
      return end(event.error == ENODEV ? "no RDMA device of this host leads there"
                                       : errno_text(event.error));
    case cm::EventType::disconnected:
      return end("the target closed the connection");
    case cm::EventType::device_removed:
      return end("the RDMA device was removed");
  }
}

}  // namespace rdmablk::initiator
