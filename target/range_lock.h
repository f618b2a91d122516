#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <mutex>

namespace rdmablk::target {

/// Keeps those who write to overlapping ranges of a file apart: a read-modify-write of a block must
/// not lose what another writes to the rest of it. Readers do not ask. Nobody blocks: who has to
/// wait is told. First come, first served: a request waits for those before it that it overlaps,
/// held or waiting. Any thread; the lock inside is held for a search, never for I/O.
class RangeLock {
 public:
  /// A range that is asked for or held; made and owned by who asks, and left alone until it is
  /// released.
  class Hold : public boost::intrusive::set_base_hook<>, public boost::intrusive::list_base_hook<> {
   public:
    std::uint64_t begin = 0;  ///< bytes
    std::uint64_t end = 0;    ///< bytes; behind the last one; more than `begin`

    std::uint64_t in_the_way = 0;  ///< of the lock: those before it that it overlaps

    /// The range is held now, after a wait. On the thread that released what was in the way, from
    /// within release(); may acquire and release.
    virtual void on_granted() noexcept = 0;

   protected:
    ~Hold() = default;
  };

  /// @return whether the range is held now; otherwise on_granted() follows.
  bool acquire(Hold& hold) noexcept;

  /// Gives a held range back, and lets those in who waited for it.
  void release(Hold& hold) noexcept;

 private:
  struct BeginOf {
    using type = std::uint64_t;
    type operator()(const Hold& hold) const noexcept { return hold.begin; }
  };
  /// These never overlap, so that they are in the order of their ends as well.
  using Held = boost::intrusive::set<Hold, boost::intrusive::key_of_value<BeginOf>>;
  using Waiting = boost::intrusive::list<Hold>;

  std::uint64_t count_in_the_way(const Hold& hold) const noexcept;

  std::mutex mutex_;
  Held held_;
  Waiting waiting_;  ///< first come, first served
};

}  // namespace rdmablk::target
