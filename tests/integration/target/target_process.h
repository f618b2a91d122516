#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/socket_address.h"
#include "common/unique_fd.h"

namespace rdmablk::testing {

/// A rdmablk-target that runs as a child on a free port, until destroyed or until the test dies.
class TargetProcess {
 public:
  /// Starts it and waits until it listens. Throws Error, with its log, when it ends instead.
  /// @param arguments --export and the like; --listen is added if there is none, and --insecure
  /// unless there is an --auth.
  /// @param port zero: any that is free. @param program in the folder of this one.
  explicit TargetProcess(const std::vector<std::string>& arguments, std::uint16_t port = 0,
                         const std::string& program = "rdmablk-target");
  ~TargetProcess();
  TargetProcess(const TargetProcess&) = delete;
  TargetProcess& operator=(const TargetProcess&) = delete;

  const SocketAddress& address() const noexcept { return address_; }

  /// The same, for who takes a host's name.
  HostPort host_port() const;

  /// Processor time that it has used: user and system.
  std::chrono::milliseconds cpu_time() const;

  /// Lets it write to no file behind a size from now on.
  void limit_file_size(std::uint64_t size) const;

  /// Asks it for its counts (SIGUSR1). @return that line of its log, from "counts:" on.
  std::string counts();

  /// Sends SIGHUP.
  void reload() const;

  /// Reads its log until a text is in it. Throws Error when it ends before.
  void wait_for_log(std::string_view text);

  /// Reads its log until a line has a text that no line before has had that this was called for.
  /// @return the rest of that line. Throws Error when it ends before.
  std::string wait_for_line(std::string_view text);

  /// Writes to its standard input.
  void write_input(std::string_view text) const;

  /// Sends SIGTERM.
  void terminate() const;

  /// Sends any signal.
  void send(int signal) const;

  /// Sends SIGKILL and waits for its end.
  void kill();

  /// Waits for its end. @return its exit status; -1 when a signal ended it.
  int wait();

  /// Ends it and prints its log when the test that is running has failed.
  void show_log_if_failed();

  /// What it has logged, as far as it was read: all of it after wait().
  const std::string& log() const noexcept { return log_; }

 private:
  void wait_until_listening(UniqueFd input);
  bool read_log();

  std::string state_;  ///< its --state-dir, which goes away with it
  pid_t pid_ = -1;
  UniqueFd output_;
  UniqueFd input_;              ///< of its standard input
  std::size_t read_lines_ = 0;  ///< of the log, in bytes: wait_for_line() goes on there
  std::string log_;
  SocketAddress address_;
};

}  // namespace rdmablk::testing
