#include "target/attach_waits.h"

#include <asio/post.hpp>

namespace rdmablk::target {

void AttachWaits::add(const LeaseWait& wait, std::chrono::milliseconds time) {
  waits_.try_emplace(wait.ticket, *this, wait, time);
}

AttachWaits::Wait::Wait(AttachWaits& waits, const LeaseWait& wait, std::chrono::milliseconds time)
    : waits_(waits), ticket_(wait.ticket), deadline_(waits.io_, time) {
  wait.lease->wait(*this, wait.takes_over);
  deadline_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    // What is called may destroy this.
    if (!error) waits_.give_up_(std::uint64_t{ticket_});
  }));
}

void AttachWaits::Wait::on_lease_free() noexcept {
  asio::post(waits_.io_, lifetime_.guard([this] { waits_.retry_(std::uint64_t{ticket_}); }));
}

}  // namespace rdmablk::target
