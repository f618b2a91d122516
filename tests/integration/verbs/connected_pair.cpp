#include "tests/integration/verbs/connected_pair.h"

#include <chrono>
#include <cstdlib>

#include "common/descriptor_watch.h"
#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::testing {
namespace {

/// Far longer than anything takes: a test that waits so long has failed.
constexpr std::chrono::seconds kPatience{20};

}  // namespace

SocketAddress test_address() {
  const char* const host = std::getenv("RDMABLK_TEST_ADDRESS");
  SocketAddress address = resolve({host != nullptr ? host : "127.0.0.1", 1}).front();
  address.set_port(0);
  return address;
}

void End::prepare(ibv_context* device) {
  pd = std::make_unique<verbs::ProtectionDomain>(device);
  events = std::make_unique<verbs::CompletionChannel>(device);
  cq = std::make_unique<verbs::CompletionQueue>(device, 256, events.get());
  cq->arm();
}

ConnectedPair::ConnectedPair(unsigned send_requests, unsigned receive_requests) {
  options_.send_requests = send_requests;
  options_.receive_requests = receive_requests;
  listener_ = manager_->listen(test_address(), *this);
  initiator.connection = manager_->open(listener_->address(), *this);
  run_until([&] { return initiator.pd != nullptr; });
  run_until([&] { return target.connection != nullptr; });
  // iWARP's target may hear of `established` only after the initiator has sent something.
  run_until([&] { return established_ >= 1; });
}

ConnectedPair::~ConnectedPair() = default;

bool ConnectedPair::is_iwarp() const {
  return verbs::is_iwarp(initiator.pd->context());
}

void ConnectedPair::run_until(const std::function<bool()>& done) {
  io_.restart();
  while (!done()) {
    if (io_.run_one_for(kPatience) == 0) throw Error("nothing happened: no connection event");
  }
}

ibv_wc ConnectedPair::wait(End& end) {
  ibv_wc completion{};
  std::size_t count = 0;
  const auto look = [&] {
    end.events->drain();
    end.cq->arm();
    if (count == 0) count = end.cq->poll({&completion, 1});
  };
  const DescriptorWatch watch(io_, end.events->fd(), look);
  look();
  run_until([&] { return count > 0; });
  return completion;
}

void ConnectedPair::on_event(cm::Connection& connection, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::resolved:
      initiator.prepare(connection.device());
      connection.create_queue_pair(*initiator.pd, *initiator.cq, options_);
      connection.connect({});
      return;
    case cm::EventType::established:
      if (&connection == initiator.connection.get()) ++established_;
      return;
    case cm::EventType::disconnected:
      disconnected_.insert(&connection);
      return;
    default:
      throw Error("the connection under test failed");
  }
}

void ConnectedPair::on_request(std::unique_ptr<cm::Connection> connection,
                               std::span<const std::byte> /*private_data*/) {
  target.prepare(connection->device());
  target.connection = std::move(connection);
  target.connection->create_queue_pair(*target.pd, *target.cq, options_);
  target.connection->accept(*this);
}

Work::Work(ibv_wr_opcode opcode, std::byte* data, std::size_t size, std::uint32_t lkey,
           std::uint64_t remote_address, std::uint32_t rkey)
    : segment{reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint32_t>(size), lkey} {
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.wr.rdma.remote_addr = remote_address;
  request.wr.rdma.rkey = rkey;
}

int Work::post(End& end) {
  ibv_send_wr* unposted = nullptr;
  return end.qp().post_send(request, unposted);
}

}  // namespace rdmablk::testing
