#pragma once

#include <map>
#include <optional>
#include <span>

#include "common/protocol/messages.h"
#include "target/catalog.h"
#include "target/export_spec.h"
#include "target/memory_backing.h"
#include "target/registration.h"

namespace rdmablk::target {

/// A named image: its memory, and its registrations by device and access.
class Export {
 public:
  /// Makes the memory and registers it.
  /// @param devices those that it is offered on; they outlive the export. Throws Error.
  Export(const ExportSpec& spec, std::span<ibv_context* const> devices);

  const ExportSpec& spec() const noexcept { return spec_; }

  /// The export as sessions of one of its devices see it; valid as long as the export.
  Offer offer(ibv_context* device) const;

  /// One line for the log: name, size, chunks, UUID.
  std::string describe() const;

 private:
  struct Registrations {
    Registration read_only;
    std::optional<Registration> read_write;
  };
  Registrations register_with(ibv_context* device) const;

  ExportSpec spec_;
  protocol::Uuid uuid_;
  protocol::Generation generation_;  // of content: random, since memory starts anew with us
  MemoryBacking memory_;
  std::map<ibv_context*, Registrations> registrations_;
};

}  // namespace rdmablk::target
