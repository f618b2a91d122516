#pragma once

#include <set>

#include "common/protocol/messages.h"
#include "tests/fuzz/greeting_witness.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scripted_manager.h"

namespace rdmablk::fuzz {

/// A target that says what the input says, and leaves when there is no more.
class ScriptedTarget final : public ConnectionScript {
 public:
  /// @param has_key whether the initiator has one.
  ScriptedTarget(Input& input, bool has_key) : input_(input), has_key_(has_key), witness_(has_key) {
    ScriptedManager::use(this);
  }
  ~ScriptedTarget() { ScriptedManager::use(nullptr); }

  const GreetingWitness& witness() const noexcept { return witness_; }

  cm::Event on_open() override;
  cm::Event on_connect(ManagedConnection& connection,
                       std::span<const std::byte> private_data) override;
  void on_destroyed(ManagedConnection& connection) override { connections_.erase(&connection); }

 private:
  using Header = protocol::Header;

  void on_sent(ManagedConnection& connection);
  void leave();
  void answer(ManagedConnection& connection, const Header& asked);
  void answer_well(ManagedConnection& connection, const Header& reply);
  protocol::Authentication authentication();
  protocol::ExportInfo info();
  protocol::AttachReply attached();

  template <typename Payload>
  void encode(ManagedConnection& connection, const Header& header, const Payload& payload);
  void deliver(ManagedConnection& connection, const Header& header,
               std::span<const std::byte> payload);
  void deliver_raw(ManagedConnection& connection, std::span<const std::byte> message);

  Input& input_;
  bool has_key_;
  GreetingWitness witness_;
  std::set<ManagedConnection*> connections_;
};

}  // namespace rdmablk::fuzz
