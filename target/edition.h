#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "target/footprint.h"
#include "target/registered_table.h"

namespace rdmablk::target {

/// An export at one of its sizes, and the chunk tables that go with it if it lies in memory.
struct Edition {
  /// On one device.
  struct Tables {
    std::shared_ptr<const void> owner;  ///< of the protection domains that they lie in
    std::unique_ptr<const RegisteredTable> read_only;
    std::unique_ptr<const RegisteredTable> read_write;  ///< null when nobody may write

    /// @pre there is one for that access.
    const RegisteredTable& of(protocol::Access access) const {
      return access == protocol::Access::read_write ? *read_write : *read_only;
    }
  };

  std::uint64_t number = 0;
  std::uint64_t size = 0;  ///< bytes
  std::map<ibv_context*, Tables> tables;
  std::size_t users = 0;  ///< counted by Editions
};

/// What the tables of an edition take of the devices. @param alone without chunks that it shares
/// with another edition.
Footprint footprint_of(const Edition& edition, bool alone) noexcept;

/// The editions of an export: the current one, and those before that somebody still knows. Control
/// thread.
class Editions {
 public:
  Editions() = default;
  Editions(const Editions&) = delete;
  Editions& operator=(const Editions&) = delete;

  /// @pre there is one.
  const Edition& current() const noexcept { return *all_.back(); }

  /// All, the current one last.
  const std::list<std::unique_ptr<Edition>>& all() const noexcept { return all_; }

  /// The one of that number; null when it is gone.
  Edition* find(std::uint64_t number) noexcept;

  /// Takes the tables on a device out of all.
  std::vector<Edition::Tables> take_tables(ibv_context* device);

  void publish(std::unique_ptr<Edition> edition) { all_.push_back(std::move(edition)); }

  /// Has `told` called whenever one that is not the current one is not used any more, from whatever
  /// ends its use: must only take note.
  void on_unused(std::function<void()> told) { told_ = std::move(told); }

  /// Takes out those that are not used, other than the current one: to destroy one takes long.
  std::vector<std::unique_ptr<Edition>> take_unused();

  /// Drops all. @pre none is used.
  void clear() noexcept { all_.clear(); }

  /// Whether one is here that is larger than the current one.
  bool has_larger() const noexcept;

 private:
  friend class EditionUse;
  void release(Edition& edition) noexcept;

  std::list<std::unique_ptr<Edition>> all_;
  std::function<void()> told_;
};

/// What an attachment and its I/O queues share: the edition that its initiator knows, and the one
/// that it has been told of. Both stay as long.
class EditionUse {
 public:
  /// Uses the current one. @param editions outlive this.
  explicit EditionUse(Editions& editions);
  ~EditionUse();
  EditionUse(const EditionUse&) = delete;
  EditionUse& operator=(const EditionUse&) = delete;

  /// The largest size that its initiator may use.
  std::uint64_t known_size() const noexcept;

  /// The edition of that number, if its initiator knows it or has been told of it; else null.
  const Edition* find(std::uint64_t number) const noexcept;

  /// Whether its initiator knows the current one, or has been told.
  bool is_current() const noexcept;

  /// Its initiator is being told of the current one. @pre acknowledge() came since the last call.
  void announce() noexcept;

  /// It uses what it was told of, and nothing of the one before.
  void acknowledge() noexcept;

 private:
  Edition& use_current() noexcept;

  Editions& editions_;
  Edition* known_;
  Edition* announced_ = nullptr;
};

}  // namespace rdmablk::target
