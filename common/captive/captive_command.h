#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk {

/// A command line of sh(1) that a program serves as long as it runs: `--run`. A process between the
/// two, the keeper, sees to it that nothing of the command outlives the program, however that ends:
/// what the command has started and left becomes the keeper's, which ends it. The command has the
/// standard descriptors and no others, and is in the program's process group, so that it may use
/// the terminal. Used by one thread.
class CaptiveCommand {
 public:
  /// Makes the keeper, by fork(2): before any thread and any verbs object. Throws SystemError.
  /// @param orphaned is called in the keeper, as the last thing, when the program has died before
  /// this was destroyed: to clean up in its place.
  explicit CaptiveCommand(const std::string& command,
                          const std::function<void()>& orphaned = nullptr);

  /// Ends the command, if it still runs, and all that it has started; returns when they are gone.
  ~CaptiveCommand();
  CaptiveCommand(const CaptiveCommand&) = delete;
  CaptiveCommand& operator=(const CaptiveCommand&) = delete;

  /// Has the command run. Once. Throws SystemError when the keeper is gone.
  /// @param variables are added to its environment, NAME and value; those of a service manager
  /// (sd_notify(3), sd_listen_fds(3)) are not in it.
  void start(const std::vector<std::pair<std::string, std::string>>& variables);

  /// Sends it a signal, if it runs.
  void signal(int number) noexcept;

  /// Readable when the command, and all that it has started, has ended; or when there is no keeper
  /// any more.
  int fd() const noexcept { return socket_.get(); }

  /// How it has ended, when fd() is readable: its exit status; 128 and the number of the signal
  /// that killed it; 1 when nobody knows, after having ended what was left of it.
  int status();

 private:
  UniqueFd socket_;
  pid_t keeper_ = -1;
};

}  // namespace rdmablk
