#include "common/softverbs/cm/wire_message.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <type_traits>

namespace softverbs::cm {
namespace {

static_assert(std::is_trivially_copyable_v<Message>);

bool is_valid(const Message& message, ssize_t size) {
  return size == static_cast<ssize_t>(sizeof(Message)) && message.magic == Message::kMagic &&
         message.kind >= MessageKind::kRequest && message.kind <= MessageKind::kDisconnected &&
         message.private_data_size <= kMaxPrivateData && message.mtu <= IBV_MTU_4096;
}

}  // namespace

void send_message(int socket, const Message& message) {
  while (::send(socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno != EINTR) return;
  }
}

ReceiveResult receive_message(int socket, Message& message) {
  for (;;) {
    const ssize_t got = ::recv(socket, &message, sizeof(message), MSG_DONTWAIT);
    if (got > 0) return is_valid(message, got) ? ReceiveResult::kMessage : ReceiveResult::kEnd;
    if (got == 0) return ReceiveResult::kEnd;
    if (errno == EAGAIN) return ReceiveResult::kNothing;
    // A peer that dies with unread messages shows as a reset first; what it sent comes after.
    if (errno != EINTR && errno != ECONNRESET) return ReceiveResult::kEnd;
  }
}

void set_private_data(Message& message, std::span<const uint8_t> data) {
  message.private_data_size = static_cast<uint16_t>(data.size());
  std::copy(data.begin(), data.end(), message.private_data.begin());
}

}  // namespace softverbs::cm
