#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "initiator/cli/time_limit.h"
#include "initiator/connection_options.h"
#include "initiator/credentials.h"

namespace CLI {
class App;
}

namespace rdmablk::cli {

/// Has the program, or one of its commands, tell which version it is.
void add_version_option(CLI::App& app);

/// One of the commands behind `rdmablk`. Declares its arguments when it is made and works with them
/// when it is run.
class Command {
 public:
  /// @param parent the program, which outlives the command.
  Command(CLI::App& parent, const std::string& name, const std::string& description);
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Whether the command line asks for this command.
  bool chosen() const;

  /// Does the work. Throws UsageError or Error.
  /// @return the exit status.
  virtual int run() = 0;

 protected:
  CLI::App& arguments() noexcept { return *arguments_; }
  const CLI::App& arguments() const noexcept { return *arguments_; }

  void add_json_option();

  /// For commands that ask a target and are through: how long all of it may take.
  /// @param usual in seconds.
  void add_timeout_option(const char* usual = "5");
  /// Throws UsageError.
  std::chrono::milliseconds timeout() const { return read_timeout(timeout_); }

  /// For commands that use the initiator library, which logs.
  void add_log_level_option();

  /// For commands that talk to a target: who this is.
  void add_credential_options();

  /// What those say. Throws UsageError or Error.
  std::optional<initiator::Credentials> credentials() const;

  /// For commands that connect to a target: how.
  void add_connection_options();

  /// What those say. Throws UsageError when it does not go together.
  const initiator::ConnectionOptions& connection() const;

  /// A word that names an export, or a target, whose port may be left out. Throws UsageError.
  Uri read_uri(const std::string& text) const {
    return parse_uri(text, connection().default_port());
  }
  HostPort read_target(const std::string& text) const {
    return parse_host_port(text, connection().default_port());
  }

  bool wants_json() const noexcept { return json_; }
  void start_log() const;

 private:
  CLI::App* arguments_;  // owned by the parent
  bool json_ = false;
  std::string timeout_;
  std::string log_level_ = "warning";
  std::string client_;
  std::string key_file_;
  initiator::ConnectionOptions connection_;
};

}  // namespace rdmablk::cli
