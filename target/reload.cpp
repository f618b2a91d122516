#include "target/reload.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "common/counted.h"
#include "common/error.h"
#include "target/changed_settings.h"

namespace rdmablk::target {

namespace {

void log_failure(const std::string& line) {
  spdlog::warn("reload: {}", line);
}

}  // namespace

struct Reload::Run {
  ReloadPlan plan;
  std::size_t left = 0;  ///< changes under way
  std::vector<std::string> failures;

  void note(std::optional<std::string> failure) {
    if (!failure) return;
    log_failure(*failure);
    failures.push_back(std::move(*failure));
  }
};

Reload::Reload(Options started, Load load, Exports& exports, Administration& administration,
               EndDisallowed end_disallowed)
    : started_(std::move(started)),
      load_(std::move(load)),
      exports_(exports),
      administration_(administration),
      end_disallowed_(std::move(end_disallowed)) {}

void Reload::run(Administration::Done done) {
  waiting_.push_back(std::move(done));
  if (!is_running_) begin();
}

std::vector<RunningExport> Reload::running() const {
  std::vector<RunningExport> all;
  for (const auto& one : exports_.all()) {
    all.push_back({one->spec(), one->holds_data(), one->size_of_its_own()});
  }
  return all;
}

void Reload::begin() {
  is_running_ = true;
  current_ = std::exchange(waiting_, {});
  const auto run = std::make_shared<Run>();
  try {
    const Options now = load_();
    run->plan = plan_reload(running(), now.exports, now.discards);
    run->failures = run->plan.refused;
    for (const std::string& name : changed_settings(started_, now)) {
      run->failures.push_back(fmt::format("{} changed, which takes a restart", name));
    }
  } catch (const std::exception& error) {
    run->failures.push_back(fmt::format("{}; the exports stay as they are", error.what()));
  }
  for (const std::string& line : run->failures) log_failure(line);
  change_at_once(run->plan);
  remove(run);
}

void Reload::change_at_once(const ReloadPlan& plan) {
  for (const auto& [name, rules] : plan.rules) {
    Export& exported = *exports_.find(name);
    exported.set_rules(rules);
    spdlog::info("export '{}': has other rules for who may have it", name);
    end_disallowed_(exported);
  }
}

/// First: what goes makes room for what comes. Its users are ended: nobody asks for it any more.
void Reload::remove(const std::shared_ptr<Run>& run) {
  run->left = run->plan.remove.size() + 1;
  const auto removed = [this, run](std::optional<std::string> failure) {
    run->note(std::move(failure));
    if (--run->left == 0) add(run);
  };
  for (const auto& [name, discard] : run->plan.remove) {
    administration_.remove_export(name, {.force = true, .discard = discard}, removed);
  }
  removed(std::nullopt);
}

void Reload::add(const std::shared_ptr<Run>& run) {
  const ReloadPlan& plan = run->plan;
  run->left = plan.adopt.size() + plan.add.size() + plan.resize.size() + 1;
  const auto changed = [this, run](std::optional<std::string> failure) {
    run->note(std::move(failure));
    if (--run->left == 0) end(*run);
  };
  for (const auto& [name, origin] : plan.adopt) {
    administration_.adopt_export(name, origin, changed);
  }
  for (const ExportSpec& spec : plan.add) {
    administration_.add_export(spec, spec.origin, changed);
  }
  for (const auto& [name, size] : plan.resize) {
    administration_.resize_export(name, size, changed);
  }
  changed(std::nullopt);
}

void Reload::end(const Run& run) {
  std::optional<std::string> failure;
  if (!run.failures.empty()) failure = fmt::format("{}", fmt::join(run.failures, "; "));
  if (run.failures.empty()) {
    spdlog::info("reload: the exports are as they are asked for");
  } else {
    spdlog::warn("reload: {} could not be done, see above", counted(run.failures.size(), "thing"));
  }
  for (const auto& done : std::exchange(current_, {})) done(failure);
  is_running_ = false;
  if (!waiting_.empty()) begin();
}

}  // namespace rdmablk::target
