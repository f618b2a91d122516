#pragma once

#include <variant>

#include "common/protocol/message_channel.h"
#include "common/protocol/messages.h"

namespace rdmablk::target {

/// A message on its way out.
struct Outgoing {
  using Payload = std::variant<protocol::Empty, protocol::HelloReply, protocol::AuthenticateReply,
                               protocol::ListReply, protocol::AttachReply, protocol::EventNotice,
                               protocol::TableReply, protocol::Reason>;

  protocol::Header header;
  Payload payload;

  void encode(protocol::WireWriter& writer) const {
    std::visit([&](const auto& what) { what.encode(writer); }, payload);
  }
};

}  // namespace rdmablk::target
