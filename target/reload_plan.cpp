#include "target/reload_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/units.h"

namespace rdmablk::target {
namespace {

using protocol::ExportKind;

const ExportSpec* find_spec(std::span<const ExportSpec> specs, const std::string& name) {
  const auto found =
      std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
  return found == specs.end() ? nullptr : &*found;
}

const RunningExport* find_running(std::span<const RunningExport> running, const std::string& name) {
  const auto found = std::find_if(running.begin(), running.end(),
                                  [&](const auto& one) { return one.spec.name == name; });
  return found == running.end() ? nullptr : &*found;
}

void add_difference(std::string& text, bool differs, const char* what) {
  if (!differs) return;
  if (!text.empty()) text += ", ";
  text += what;
}

/// What differs that an export cannot change while it is served, by the names of the options;
/// empty: nothing.
std::string fixed_differences(const ExportSpec& now, const ExportSpec& wanted) {
  std::string text;
  if (now.has_file() != wanted.has_file()) return "whether it is of memory or of a file";
  add_difference(text, now.kind != wanted.kind, "resident");
  add_difference(text, now.path != wanted.path, "the path");
  add_difference(text, now.save != wanted.save, "save");
  add_difference(text, now.huge_page != wanted.huge_page, "huge");
  add_difference(text, now.kind != ExportKind::file && now.chunk != wanted.chunk, "chunk");
  add_difference(text, now.has_file() && now.direct != wanted.direct, "direct");
  add_difference(text, now.read_only != wanted.read_only, "readonly");
  add_difference(text, now.shared != wanted.shared, "shared");
  return text;
}

/// The size that is wanted of an export, in bytes. A file that none is given for has the one that
/// it has, or has got.
std::uint64_t wanted_size(const RunningExport& running, const ExportSpec& wanted) {
  if (!wanted.has_file()) return wanted.size;
  const std::uint64_t now = running.spec.size;
  return wanted.file_size.value_or(std::max(now, running.own_size.value_or(now)));
}

/// What lies behind the new end of an export would be lost, whatever brought it to its size.
void plan_resize(const ExportSpec& now, std::uint64_t size, bool discard, ReloadPlan& plan) {
  if (size >= now.size || discard) return plan.resize.push_back({now.name, size});
  plan.refused.push_back(fmt::format(
      "export '{}' stays at {}, and {} is asked for: what lies behind that would be lost; "
      "`rdmablk export resize {} {} --runtime --shrink` lets go of it, or --discard {}, or ask for "
      "the size that it has",
      now.name, format_size(now.size), format_size(size), now.name, size, now.name));
}

void compare(const RunningExport& running, const ExportSpec& wanted, bool discard,
             ReloadPlan& plan) {
  const ExportSpec& now = running.spec;
  if (const auto fixed = fixed_differences(now, wanted); !fixed.empty()) {
    plan.refused.push_back(
        fmt::format("export '{}' stays as it is: what changed ({}) takes that it is removed and "
                    "added again, or a restart",
                    now.name, fixed));
    return;
  }
  const std::uint64_t size = wanted_size(running, wanted);
  if (size != now.size) plan_resize(now, size, discard, plan);
  if (now.rules != wanted.rules) plan.rules.push_back({now.name, wanted.rules});
  if (now.origin != wanted.origin) plan.adopt.push_back({now.name, wanted.origin});
}

void plan_removal(const RunningExport& one, bool discard, ReloadPlan& plan) {
  const std::string& name = one.spec.name;
  if (one.spec.origin == ExportOrigin::run_time) return;
  if (one.holds_data && !discard) {
    plan.refused.push_back(
        fmt::format("export '{}' stays, though nothing asks for it any more: its memory has data "
                    "that nothing else has; copy what is needed, and give --discard {} to let go "
                    "of it",
                    name, name));
    return;
  }
  plan.remove.push_back({name, discard});
}

}  // namespace

bool ReloadPlan::empty() const noexcept {
  return add.empty() && remove.empty() && resize.empty() && rules.empty() && adopt.empty() &&
         refused.empty();
}

ReloadPlan plan_reload(std::span<const RunningExport> running, std::span<const ExportSpec> wanted,
                       std::span<const std::string> discards) {
  ReloadPlan plan;
  for (const RunningExport& one : running) {
    const bool discard =
        std::find(discards.begin(), discards.end(), one.spec.name) != discards.end();
    if (const ExportSpec* const spec = find_spec(wanted, one.spec.name)) {
      compare(one, *spec, discard, plan);
    } else {
      plan_removal(one, discard, plan);
    }
  }
  for (const ExportSpec& spec : wanted) {
    if (find_running(running, spec.name) == nullptr) plan.add.push_back(spec);
  }
  return plan;
}

}  // namespace rdmablk::target
