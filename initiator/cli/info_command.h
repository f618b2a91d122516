#pragma once

#include <string>
#include <vector>

#include "initiator/cli/command.h"
#include "initiator/cli/export_report.h"
#include "initiator/cli/map_report.h"

namespace rdmablk::cli {

/// `rdmablk info`: tells what an export is like.
class InfoCommand final : public Command {
 public:
  /// `--can`: no, it cannot.
  static constexpr int kExitNo = 3;

  explicit InfoCommand(CLI::App& parent);
  int run() override;

 private:
  void add_map_options();
  int answer(const Uri& uri, const std::string& what) const;
  void print_map(const Uri& uri) const;
  void print_details(const ExportDetails& details) const;

  std::string uri_;
  bool size_only_ = false;
  std::vector<std::string> can_;
  bool map_ = false;
  std::string offset_ = "0";
  std::string length_;
};

}  // namespace rdmablk::cli
