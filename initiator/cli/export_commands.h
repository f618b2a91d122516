#pragma once

#include <string>

#include "initiator/cli/admin_command.h"

namespace rdmablk::cli {

/// `rdmablk export ls`: the exports of the target on this machine.
class ExportListCommand final : public AdminCommand {
 public:
  explicit ExportListCommand(CLI::App& parent);
  int run() override;
};

/// `rdmablk export add`: has it offer another one.
class ExportAddCommand final : public AdminCommand {
 public:
  explicit ExportAddCommand(CLI::App& parent);
  int run() override;

 private:
  std::string spec_;
  bool run_time_ = false;
};

/// `rdmablk export rm`: has it take one away.
class ExportRemoveCommand final : public AdminCommand {
 public:
  explicit ExportRemoveCommand(CLI::App& parent);
  int run() override;

 private:
  std::string name_;
  bool force_ = false;
  bool discard_ = false;
  bool run_time_ = false;
};

/// `rdmablk export resize`: has it give one another size.
class ExportResizeCommand final : public AdminCommand {
 public:
  explicit ExportResizeCommand(CLI::App& parent);
  int run() override;

 private:
  std::string size() const;

  std::string name_;
  std::string size_;
  bool shrink_ = false;
  bool run_time_ = false;
};

}  // namespace rdmablk::cli
