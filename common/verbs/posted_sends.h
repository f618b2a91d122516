#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdmablk::verbs {

/// For people: a completion came of what was not posted.
inline constexpr const char* kUnknownCompletion =
    "its device completed a work request that was not posted";

/// The send work requests of a queue pair that are not known to have completed, in the order in
/// which they were posted. Who has only some of them signalled learns from each completion that
/// all which were posted before have completed, too; only then are their memory and their places
/// in the send queue free. One thread; no allocation after construction.
class PostedSends {
 public:
  /// @param capacity how many the send queue holds; at least 1.
  explicit PostedSends(unsigned capacity) : numbers_(capacity) {}

  /// How many more may be posted.
  unsigned room() const noexcept { return static_cast<unsigned>(numbers_.size()) - count_; }

  /// Notes that one is posted. @pre room() > 0, and no other that is posted has its number.
  void add(std::uint64_t number) noexcept {
    numbers_[place(count_)] = number;
    ++count_;
  }

  /// Takes a completion that succeeded.
  /// @param visit called with the number of each that has completed, in their order. May add more,
  /// and may forget all.
  /// @return whether one of this number was posted; else nothing has happened.
  template <typename Visit>
  bool complete(std::uint64_t number, Visit visit) noexcept {
    unsigned covered = 0;
    while (covered < count_ && numbers_[place(covered)] != number) ++covered;
    if (covered == count_) return false;
    // One at a time: what is visited may forget the rest.
    for (bool last = false; !last && count_ > 0;) {
      const std::uint64_t next = numbers_[first_];
      last = next == number;
      first_ = place(1);
      --count_;
      visit(next);
    }
    return true;
  }

  /// When the queue pair is destroyed.
  void forget() noexcept { count_ = 0; }

 private:
  std::size_t place(unsigned behind) const noexcept { return (first_ + behind) % numbers_.size(); }

  std::vector<std::uint64_t> numbers_;  ///< a ring
  std::size_t first_ = 0;
  unsigned count_ = 0;
};

}  // namespace rdmablk::verbs
