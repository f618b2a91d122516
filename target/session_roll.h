#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "target/handshakes.h"
#include "target/session_peer.h"

namespace rdmablk::target {

/// Who is here: what has to be known of the sessions of a target when one more comes, without
/// asking each of them. Sessions go by their number; one that is not here is none's business.
class SessionRoll {
 public:
  /// Somebody has connected, and has not said who it is.
  void add_handshake(std::uint32_t session, std::string host,
                     std::chrono::steady_clock::time_point since);

  /// It is known now.
  void enter(std::uint32_t session, const SessionPeer& peer);

  /// It is out again, but stays for a moment to read why: a handshake again.
  void leave(std::uint32_t session);

  /// It is over; whoever resumes it may have to wait for what is left of it.
  void end(std::uint32_t session);

  /// Nothing is left of it.
  void remove(std::uint32_t session);

  /// Sessions that are in.
  std::size_t size() const noexcept { return size_; }

  /// Those of them that have the account of a peer.
  std::size_t size_of_account(const SessionPeer& peer) const;

  bool is_in(std::uint32_t session) const;

  /// The sessions that one with `peer` resumes, those that are over among them, in the order of
  /// their numbers. Call it before that one enters.
  std::vector<std::uint32_t> resumed_by(const SessionPeer& peer) const;

  std::size_t handshakes() const noexcept { return handshakes_.size(); }

  /// The handshake that gives way to one from `host`: see who_gives_way().
  /// @return its session; 0: none does.
  std::uint32_t who_gives_way(const std::string& host, std::chrono::milliseconds reticence,
                              std::chrono::steady_clock::time_point now) const;

 private:
  struct Entry {
    Handshake handshake;
    SessionPeer peer;  ///< once it has entered
    bool in = false;
  };

  void take_out(Entry& entry);

  std::map<std::uint32_t, Entry> entries_;
  std::set<std::uint32_t> handshakes_;
  std::map<protocol::InstanceId, std::set<std::uint32_t>> instances_;
  std::map<std::string, std::size_t> accounts_;
  std::size_t size_ = 0;
};

}  // namespace rdmablk::target
