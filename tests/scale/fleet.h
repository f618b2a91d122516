#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tests/scale/member.h"

namespace rdmablk::scale {

/// Many sessions of this process on one target.
class Fleet {
 public:
  /// Opens them. Throws Error when one cannot be; the others are closed then.
  /// @param options of the session with a number, from 0 on. @param threads that open them: each
  /// takes the next that nobody has taken.
  Fleet(std::size_t sessions, const std::function<MemberOptions(std::size_t)>& options,
        unsigned threads);

  std::size_t size() const noexcept { return members_.size(); }
  Member& at(std::size_t number) noexcept { return *members_[number]; }
  std::span<const std::unique_ptr<Member>> members() const noexcept { return members_; }

  /// From the first to the last.
  Duration opening_time() const noexcept { return opening_time_; }

  /// Closes them, one after the other. @return how long each took.
  std::vector<Duration> close();

 private:
  std::vector<std::unique_ptr<Member>> members_;
  Duration opening_time_{};
};

}  // namespace rdmablk::scale
