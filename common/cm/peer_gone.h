#pragma once

#include <fmt/format.h>

#include <string>

#include "common/error.h"

namespace rdmablk::cm {

/// A request to connect cannot be answered any more: who made it has gone or given up, as happens
/// to those that wait while this process does not run. No fault of this end.
class PeerGone : public Error {
 public:
  explicit PeerGone(const std::string& peer)
      : Error(fmt::format(
            "{} gave up, or went away, before its request to connect was answered (those that came "
            "while this process did not run, or was busy, are found so)",
            peer)) {}
};

}  // namespace rdmablk::cm
