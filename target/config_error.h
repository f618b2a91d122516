#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"

namespace rdmablk::target {

/// A place in a configuration file.
struct ConfigPlace {
  std::string file;
  unsigned line = 0;    ///< from 1; 0: the file as a whole
  unsigned column = 0;  ///< from 1

  /// "FILE:LINE:COLUMN", or "FILE".
  std::string text() const;
};

/// Configuration files make no sense. what() has a line for each complaint, "PLACE: what is wrong".
class ConfigError : public UsageError {
 public:
  explicit ConfigError(std::vector<std::string> complaints);

  const std::vector<std::string>& complaints() const noexcept { return complaints_; }

 private:
  std::vector<std::string> complaints_;
};

/// Collects what is wrong with configuration files, to tell all of it at once.
class Complaints {
 public:
  /// More than so many are counted only.
  static constexpr std::size_t kMost = 20;

  /// @param what is wrong, one line; what cannot be printed in it is replaced.
  void add(const ConfigPlace& place, const std::string& what);

  /// Adds those of somebody else.
  void add(const ConfigError& error);

  bool empty() const noexcept { return lines_.empty(); }

  /// How many there were so far.
  std::size_t count() const noexcept { return lines_.size() + more_; }

  /// Throws ConfigError when there are any.
  void raise() const;

 private:
  void add_line(std::string line);

  std::vector<std::string> lines_;
  std::size_t more_ = 0;
};

}  // namespace rdmablk::target
