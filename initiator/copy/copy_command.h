#pragma once

#include <optional>
#include <string>

#include "initiator/cli/command.h"
#include "initiator/copy/move_options.h"

namespace rdmablk::copy {

/// `rdmablk copy`: copies between files, block devices, standard input and output, and exports.
class CopyCommand final : public cli::Command {
 public:
  explicit CopyCommand(CLI::App& parent);
  int run() override;

 private:
  TransferOptions options() const;
  std::optional<initiator::Credentials> source_credentials() const;
  Endpoint open_source() const;
  Endpoint open_destination() const;
  void report(const Endpoint& source, const Endpoint& destination,
              const TransferResult& result) const;

  std::string source_;
  std::string destination_;
  std::string sparse_ = "4K";
  bool no_sparse_ = false;
  std::string source_key_file_;
  std::string source_client_;
  MoveOptions move_;
};

}  // namespace rdmablk::copy
