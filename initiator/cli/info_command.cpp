#include "initiator/cli/info_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "initiator/cli/export_report.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::cli {
namespace {

/// Attaches the export for reading, looks, and detaches it.
ExportDetails look_at(const Uri& uri) {
  const auto session = initiator::Session::connect(uri.target);
  initiator::AttachOptions options;
  options.access = protocol::Access::read_only;
  options.queues = 1;
  const auto image = session->attach(uri.export_name, options);
  return {uri, image->attachment(), image->info().flush_is_free};
}

}  // namespace

InfoCommand::InfoCommand(CLI::App& parent)
    : Command(parent, "info", "tell what an export is like") {
  arguments().add_option("URI", uri_, "rdmablk://HOST[:PORT]/EXPORT")->type_name("")->required();
  auto* size = arguments().add_flag("--size", size_only_, "print its size in bytes, nothing else");
  add_json_option();
  size->excludes(arguments().get_option("--json"));
  add_log_level_option();
  arguments().footer(
      "Examples:\n"
      "  rdmablk info rdmablk://storage1/scratch\n"
      "  rdmablk info rdmablk://storage1/scratch --size");
}

int InfoCommand::run() {
  const Uri uri = parse_uri(uri_);
  start_log();
  const ExportDetails details = look_at(uri);
  if (size_only_) {
    fmt::print("{}\n", details.reply.info.size);
  } else if (wants_json()) {
    print_json(export_details_json(details));
  } else {
    fmt::print("{}", export_details_text(details));
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
