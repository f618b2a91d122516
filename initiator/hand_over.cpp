#include "initiator/hand_over.h"

namespace rdmablk::initiator {

HandOver::~HandOver() {
  call_back();
  take_given_up();
  call_back_resize();
  take_resized();
}

void HandOver::deliver(std::unique_ptr<ConnectedQueue> queue) noexcept {
  fenced_.store(false, std::memory_order_release);
  leaving_.store(false, std::memory_order_relaxed);
  delivered_.store(queue.release(), std::memory_order_release);
  tell();
}

std::unique_ptr<ConnectedQueue> HandOver::call_back() noexcept {
  return std::unique_ptr<ConnectedQueue>(delivered_.exchange(nullptr, std::memory_order_acq_rel));
}

std::unique_ptr<ConnectedQueue> HandOver::take_given_up() noexcept {
  return std::unique_ptr<ConnectedQueue>(given_up_.exchange(nullptr, std::memory_order_acq_rel));
}

void HandOver::offer_resize(std::unique_ptr<QueueResize> resize) noexcept {
  take_resized();
  const std::unique_ptr<QueueResize> before(
      resize_.exchange(resize.release(), std::memory_order_acq_rel));
  tell();
}

void HandOver::call_back_resize() noexcept {
  take_resize();
}

std::unique_ptr<QueueResize> HandOver::take_resize() noexcept {
  return std::unique_ptr<QueueResize>(resize_.exchange(nullptr, std::memory_order_acq_rel));
}

std::unique_ptr<QueueResize> HandOver::take_resized() noexcept {
  return std::unique_ptr<QueueResize>(resized_.exchange(nullptr, std::memory_order_acq_rel));
}

void HandOver::give_back_resize(std::unique_ptr<QueueResize> resize) noexcept {
  const std::unique_ptr<QueueResize> before(
      resized_.exchange(resize.release(), std::memory_order_acq_rel));
  control_.signal();
}

void HandOver::ask_to_leave() noexcept {
  leaving_.store(true, std::memory_order_relaxed);
  tell();
}

void HandOver::set_service(Service service) noexcept {
  if (service_.exchange(service, std::memory_order_acq_rel) != service) tell();
}

void HandOver::set_fenced() noexcept {
  if (!fenced_.exchange(true, std::memory_order_acq_rel)) tell();
}

/// After the news is there to be seen.
void HandOver::tell() noexcept {
  told_.fetch_add(1, std::memory_order_release);
  news_.signal();
}

std::unique_ptr<ConnectedQueue> HandOver::take() noexcept {
  if (delivered_.load(std::memory_order_relaxed) == nullptr) return nullptr;
  return call_back();
}

void HandOver::give_up(std::unique_ptr<ConnectedQueue> queue, std::uint64_t undone) noexcept {
  undone_.store(undone, std::memory_order_relaxed);
  given_up_.store(queue.release(), std::memory_order_release);
  control_.signal();
}

}  // namespace rdmablk::initiator
