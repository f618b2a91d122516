#pragma once

#include <string>
#include <string_view>

#include "common/protocol/features.h"
#include "common/protocol/messages.h"

namespace rdmablk::target {

/// Who is at the other end of a session, as far as the target knows.
struct SessionPeer {
  std::string address;              ///< "address:port"; an IPv6 address is in brackets
  std::string client;               ///< the name that was proved; empty without authentication
  protocol::InstanceId instance{};  ///< what HELLO said; zero: nothing was
  protocol::Features features{};    ///< that both ends know

  /// For people: "10.0.0.2:4711", "backup (10.0.0.2:4711)".
  std::string text() const;

  /// Its address without the port.
  std::string host() const { return std::string(host_part()); }

  /// What its limits count by: its name, or its address without the port. No name is an address.
  std::string account() const;

  /// Whether both have the same account(). Makes no text: it is asked of every session.
  bool shares_account_with(const SessionPeer& other) const noexcept;

  /// Whether a session with `other` resumes one with this peer. Whoever said no instance resumes
  /// nothing.
  bool is_resumed_by(const SessionPeer& other) const noexcept;

 private:
  std::string_view host_part() const noexcept {
    return std::string_view(address).substr(0, address.rfind(':'));
  }
};

}  // namespace rdmablk::target
