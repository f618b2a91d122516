#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/protocol/messages.h"
#include "common/verbs/protection_domain.h"
#include "target/slot_budget.h"

namespace rdmablk::target {

class AccessRules;
class Editions;
class ExportIdentity;
class ExportUse;
class FileStore;
class Lease;
class ResidentStore;

/// What one kind of access to an export needs: where its chunk table lies, and the protection
/// domain that its I/O queues are made in. An export that is not served one-sided has neither.
struct Grant {
  protocol::ChunkTable table;
  const verbs::ProtectionDomain* pd = nullptr;
  std::shared_ptr<const void> owner{};  ///< of the protection domain; null: that is the caller's
};

/// An export as it is offered to the sessions of one device.
struct Offer {
  protocol::ExportInfo info;
  ExportIdentity* identity = nullptr;  ///< never null in a catalog; owned by the export
  const AccessRules* rules = nullptr;  ///< who may have it; null: everybody
  Lease* lease = nullptr;              ///< of an export with one writer at a time; owned by it
  Editions* editions = nullptr;        ///< of its size; null: that does not change; owned by it
  ExportUse* use = nullptr;            ///< who uses it; null: nobody counts; owned by the export
  std::uint32_t epoch = 1;
  bool is_registered = true;  ///< with that device, if it needs to be; else grants are void
  Grant read_only;
  std::optional<Grant> read_write;  ///< nothing when the export is read-only
  std::string origin;               ///< what its file is called, for people

  FileStore* store = nullptr;         ///< of an export with a file
  ResidentStore* resident = nullptr;  ///< of a resident one
  SlotBudget* budget = nullptr;       ///< for its slots, with a store

  /// Whether the target's CPU works on requests of such an attachment.
  bool is_served(protocol::Access access) const noexcept;

  /// @pre access is read-only, or there is a grant for it.
  const Grant& grant(protocol::Access access) const;
};

/// The exports that sessions of one device may attach, by name.
class Catalog {
 public:
  /// Nothing may be left of one of the same name.
  void add(Offer offer);

  /// What is offered has changed: the offer of its name, which stays where it is.
  void update(Offer offer);

  /// The offer of that name, valid until it is removed; null when there is none.
  const Offer* find(std::string_view name) const;

  /// Offers it no more: it is not found and not listed. Those who have it go on with the offer.
  void withdraw(std::string_view name);

  /// One that was withdrawn, and is not removed yet; null when there is none.
  const Offer* find_withdrawn(std::string_view name) const;

  /// Either, as those see it who have it.
  const Offer* find_for_users(std::string_view name) const;

  /// Offers it again.
  void restore(std::string_view name);

  /// Forgets one that was withdrawn. @pre nobody has it.
  void remove(std::string_view name);

  /// Forgets all. @pre nobody has any.
  void clear() noexcept {
    offers_.clear();
    withdrawn_.clear();
  }

  /// Lets go of what grants share: nothing is registered with the device any more.
  void void_grants() noexcept;

  /// Whether somebody may see an export.
  using Filter = std::function<bool(const Offer&)>;
  static bool everything(const Offer& /*offer*/) { return true; }

  /// One page: those whose names come after `after` in the order of bytes. The others leave no
  /// trace.
  protocol::ListReply page(std::string_view after, const Filter& is_visible = everything) const;

  /// The names for people, cut when there are many: "a, b and 7 more", "none".
  std::string names(const Filter& is_visible = everything) const;

 private:
  using Offers = std::map<std::string, Offer, std::less<>>;

  static const Offer* find(const Offers& offers, std::string_view name);
  static void move(Offers& from, Offers& to, std::string_view name);

  Offers offers_;
  Offers withdrawn_;
};

}  // namespace rdmablk::target
