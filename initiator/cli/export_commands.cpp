#include "initiator/cli/export_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "common/error.h"
#include "common/export_name.h"
#include "common/unexpected_argument.h"
#include "common/units.h"
#include "initiator/cli/admin_report.h"
#include "initiator/cli/spec_paths.h"

namespace rdmablk::cli {
namespace {

void add_name(CLI::App& arguments, std::string& name) {
  arguments.add_option("NAME", name, "of the export")->type_name("")->required();
}

/// Throws UsageError.
void check_name(const std::string& name) {
  if (is_export_name(name)) return;
  throw UsageError(
      fmt::format("'{}' is not a name of an export: it begins with a letter or a digit, and has no "
                  "more than {} "
                  "of those, and of dots, dashes and underscores",
                  name, kMaxExportName));
}

/// Throws UsageError; what the target alone knows of is left to it.
void check_spec(const std::string& spec) {
  const auto equals = spec.find('=');
  if (equals == std::string::npos) {
    throw UsageError(
        fmt::format("EXPORT takes NAME=memory:SIZE or NAME=file:PATH, with options behind it, not "
                    "'{}'",
                    spec));
  }
  check_name(spec.substr(0, equals));
}

}  // namespace

ExportListCommand::ExportListCommand(CLI::App& parent)
    : AdminCommand(parent, "ls", "list the exports, and who has them", kShort) {
  arguments().footer(
      "Examples:\n"
      "  rdmablk export ls\n"
      "  rdmablk export ls --json");
}

int ExportListCommand::run() {
  const Json reply = ask({{"request", "exports"}}, "list the exports");
  if (wants_json()) {
    print_json(document_of(reply, "exports"));
  } else {
    fmt::print("{}", admin_exports_text(reply.value("exports", Json::array())));
  }
  return kExitDone;
}

ExportAddCommand::ExportAddCommand(CLI::App& parent)
    : AdminCommand(parent, "add", "offer another export", kLong) {
  arguments()
      .add_option("EXPORT", spec_, "NAME=TYPE:ARGUMENT[,OPTION...], as rdmablk-target --export")
      ->type_name("")
      ->required();
  arguments().add_flag("--runtime", run_time_,
                       "leave the configuration as it is: it is there until it is removed or the "
                       "target ends");
  arguments().footer(
      "It is offered when the command returns, and written to the drop-in directory of the "
      "target's\n"
      "configuration, so that it is there after a restart.\n"
      "\n"
      "Examples:\n"
      "  rdmablk export add scratch=memory:4G --runtime\n"
      "  rdmablk export add disk=file:/srv/disk.img,size=1T,sparse,allow=alice");
}

int ExportAddCommand::run() {
  check_spec(spec_);
  const std::string spec = absolute_spec(spec_, std::filesystem::current_path().string());
  Json request{{"request", "export_add"}, {"export", spec}};
  if (run_time_) request["runtime"] = true;
  return change(request, fmt::format("add export '{}'", spec_.substr(0, spec_.find('='))));
}

ExportRemoveCommand::ExportRemoveCommand(CLI::App& parent)
    : AdminCommand(parent, "rm", "take an export away", kLong) {
  add_name(arguments(), name_);
  arguments().add_flag(
      "--force", force_,
      "also from initiators that have it: their reads and writes wait then, as for "
      "a target that is away, and fail when a mount gives up (give_up=, 600 s by "
      "default)");
  arguments().add_flag("--discard", discard_, "also with what a memory export holds: that is lost");
  arguments().add_flag("--runtime", run_time_,
                       "leave the configuration as it is: what that has comes back with the next "
                       "reload or start");
  arguments().footer(
      "Nobody can have it from then on; a file stays as it is, and is in order when the command "
      "returns.\n"
      "\n"
      "Examples:\n"
      "  rdmablk export rm disk\n"
      "  rdmablk export rm scratch --force --discard");
}

int ExportRemoveCommand::run() {
  check_name(name_);
  Json request{{"request", "export_remove"}, {"name", name_}};
  if (force_) request["force"] = true;
  if (discard_) request["discard"] = true;
  if (run_time_) request["runtime"] = true;
  return change(request, fmt::format("remove export '{}'", name_));
}

ExportResizeCommand::ExportResizeCommand(CLI::App& parent)
    : AdminCommand(parent, "resize", "give an export another size", kLong) {
  add_name(arguments(), name_);
  arguments()
      .add_option("SIZE", size_, "bytes, or of K, M, G or T; +SIZE adds, -SIZE takes off")
      ->type_name("");
  arguments().add_flag("--shrink", shrink_,
                       "it may become smaller: what lies behind its new end is lost");
  arguments().add_flag("--runtime", run_time_,
                       "leave the configuration as it is: a reload grows the export to the size "
                       "there, if that is more");
  arguments().allow_extras();  // -SIZE looks like an option
  arguments().footer(
      "Mounts of it have the new size at once, while they are in use.\n"
      "\n"
      "Examples:\n"
      "  rdmablk export resize disk +100G\n"
      "  rdmablk export resize scratch -1G --shrink");
}

/// Throws UsageError.
std::string ExportResizeCommand::size() const {
  std::string text = size_;
  for (const std::string& word : arguments().remaining()) {
    const bool is_size = text.empty() && word.size() > 1 && word[0] == '-' && word[1] != '-';
    if (!is_size) {
      throw UsageError(fmt::format("{}; see `rdmablk export resize --help`",
                                   complaint_about_word(arguments(), word)));
    }
    text = word;
  }
  if (text.empty()) {
    throw UsageError("SIZE is required; see `rdmablk export resize --help`");
  }
  const bool is_relative = text[0] == '+' || text[0] == '-';
  const auto bytes = parse_size(std::string_view(text).substr(is_relative ? 1 : 0));
  if (!bytes || *bytes == 0 || *bytes % kSectorSize != 0) {
    throw UsageError(
        fmt::format("SIZE takes bytes, a multiple of {}, or K, M, G or T of them, with + or - in "
                    "front of what is to be added or taken off, not '{}'",
                    kSectorSize, text));
  }
  return text;
}

int ExportResizeCommand::run() {
  check_name(name_);
  Json request{{"request", "export_resize"}, {"name", name_}, {"size", size()}};
  if (shrink_) request["shrink"] = true;
  if (run_time_) request["runtime"] = true;
  return change(request, fmt::format("resize export '{}'", name_));
}

}  // namespace rdmablk::cli
