#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/administration.h"
#include "target/export_changes.h"
#include "target/exports.h"
#include "target/options.h"
#include "target/reload_plan.h"

namespace rdmablk::target {

/// Has the exports of a running target follow what its command line and its configuration ask for
/// now. What cannot be done is logged, and the rest is done. Used by the control thread.
class Reload {
 public:
  /// Reads command line and configuration again. Throws Error.
  using Load = std::function<Options()>;

  /// Ends what an export's changed rules do not allow any more.
  using EndDisallowed = std::function<void(const Export&)>;

  /// @param started what the target was started with. @param administration does what takes
  /// time. All outlive this.
  Reload(Options started, Load load, Exports& exports, Administration& administration,
         EndDisallowed end_disallowed);
  Reload(const Reload&) = delete;
  Reload& operator=(const Reload&) = delete;

  /// One at a time; who asks meanwhile has it done once more.
  void run(Administration::Done done);

 private:
  struct Run;

  void begin();
  void change_at_once(const ReloadPlan& plan);
  void remove(const std::shared_ptr<Run>& run);
  void add(const std::shared_ptr<Run>& run);
  void end(const Run& run);
  std::vector<RunningExport> running() const;

  Options started_;
  Load load_;
  Exports& exports_;
  Administration& administration_;
  EndDisallowed end_disallowed_;
  bool is_running_ = false;
  std::vector<Administration::Done> waiting_;  ///< for the next run
  std::vector<Administration::Done> current_;  ///< for this one
};

}  // namespace rdmablk::target
