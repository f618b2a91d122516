#pragma once

#include <optional>
#include <string>

#include "initiator/connection_options.h"
#include "initiator/copy/endpoint.h"
#include "initiator/copy/transfer.h"
#include "initiator/credentials.h"

namespace CLI {
class App;
}

namespace rdmablk::copy {

/// What all commands that move data have: the options of how.
class MoveOptions {
 public:
  void add_to(CLI::App& arguments);

  /// What was given. Throws UsageError.
  TransferOptions transfer() const;

  /// How to attach exports for that. Throws UsageError.
  /// @param access that is needed.
  RemoteOptions remote(protocol::Access access, const initiator::ConnectionOptions& connection,
                       std::optional<initiator::Credentials> credentials) const;

  bool is_quiet() const noexcept { return quiet_; }

 private:
  std::string queues_ = "2";
  std::string depth_ = "8";
  std::string block_size_ = "1M";
  std::string reconnect_delay_ = "2";
  std::string fail_fast_ = "never";
  std::string give_up_ = "5";
  bool take_over_ = false;
  bool verify_ = false;
  bool quiet_ = false;
};

}  // namespace rdmablk::copy
