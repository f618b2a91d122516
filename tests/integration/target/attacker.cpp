#include "attacker.h"

#include <algorithm>
#include <utility>

namespace rdmablk::testing {
namespace {

constexpr std::uint16_t kQueues = 64;

/// What an attacker's WRITEs leave behind where they succeed.
constexpr std::byte kMark{0xee};

}  // namespace

Attacker::Attacker(EventWaiter& waiter, const SocketAddress& target, std::string name,
                   protocol::Access access, Score& score)
    : waiter_(waiter),
      target_(target),
      name_(std::move(name)),
      access_(access),
      score_(score),
      initiator_(waiter, target) {
  initiator_.hello();
  attach();
  if (attachment_.table.count > 0) chunks_ = connect()->read_table(attachment_.table);
}

void Attacker::attach() {
  attachment_ = initiator_.attach(name_, access_, kQueues);
  queues_used_ = 0;
}

std::unique_ptr<RawQueue> Attacker::connect() {
  return connect_to(waiter_);
}

std::unique_ptr<RawQueue> Attacker::connect_to(EventWaiter& waiter) {
  if (queues_used_ == attachment_.queues) {
    initiator_.request(protocol::MessageType::detach, protocol::Detach{attachment_.attachment});
    attach();
  }
  return std::make_unique<RawQueue>(waiter, target_,
                                    queue_request(attachment_, queues_used_++).encode());
}

void Attacker::count(const std::function<ibv_wc_status()>& attack) {
  ++score_.attempts;
  if (attack() == IBV_WC_SUCCESS) ++score_.successes;
}

void Attacker::hold_queues() {
  for (int i = 0; i < 4; ++i) held_.push_back(connect_to(held_waiter_));
}

void Attacker::try_held(const Aim& aim, Attacker& living) {
  const auto queue = living.connect();
  const protocol::ChunkEntry own = living.chunks().front();
  bool writes = false;
  for (const auto& held : held_) {
    std::ranges::fill(held->buffer(), kMark);
    held->pause_after_posting([&] { queue->read(own.address, own.rkey, aim.size); });
    count([&] {
      return writes ? held->write(aim.address, aim.rkey, aim.size)
                    : held->read(aim.address, aim.rkey, aim.size);
    });
    writes = !writes;
  }
}

void Attacker::try_read(const Aim& aim) {
  const auto queue = connect();
  count([&] { return queue->read(aim.address, aim.rkey, aim.size); });
}

void Attacker::try_write(const Aim& aim) {
  const auto queue = connect();
  std::ranges::fill(queue->buffer(), kMark);
  count([&] { return queue->write(aim.address, aim.rkey, aim.size); });
}

}  // namespace rdmablk::testing
