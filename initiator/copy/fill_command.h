#pragma once

#include <string>

#include "initiator/cli/command.h"
#include "initiator/copy/move_options.h"
#include "initiator/copy/range_options.h"

namespace rdmablk::copy {

/// `rdmablk fill`: writes a pattern to an export.
class FillCommand final : public cli::Command {
 public:
  explicit FillCommand(CLI::App& parent);
  int run() override;

 private:
  Pattern pattern() const;

  std::string uri_;
  std::string pattern_;
  bool random_ = false;
  std::string seed_ = "0";
  RangeOptions range_;
  MoveOptions move_;
};

/// `rdmablk zero`: has an export, or a part of it, be zero.
class ZeroCommand final : public cli::Command {
 public:
  explicit ZeroCommand(CLI::App& parent);
  int run() override;

 private:
  std::string uri_;
  bool discard_ = false;
  RangeOptions range_;
  MoveOptions move_;
};

}  // namespace rdmablk::copy
