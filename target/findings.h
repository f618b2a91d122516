#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace rdmablk::target {

/// What looking at one thing that the options name has shown.
struct Finding {
  enum class Kind {
    fine,
    note,  ///< it is as it is now: a target that runs may be the cause, or this host is not ready
    problem,
  };

  Kind kind = Kind::fine;
  std::string text;  ///< one line
};

/// What has been found, in the order of looking.
class Findings {
 public:
  using Kind = Finding::Kind;

  void add(Kind kind, std::string text) { all_.push_back({kind, std::move(text)}); }

  /// @param look returns what is fine, or throws Error.
  /// @param if_not what it is when it throws.
  void attempt(const std::function<std::string()>& look, Kind if_not = Kind::problem);

  std::vector<Finding> take() && { return std::move(all_); }

 private:
  std::vector<Finding> all_;
};

}  // namespace rdmablk::target
