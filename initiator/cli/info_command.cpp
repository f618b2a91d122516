#include "initiator/cli/info_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/units.h"
#include "initiator/cli/capability.h"
#include "initiator/cli/map_reader.h"
#include "initiator/cli/session_watch.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kInfoFooter =
    "--can tells by its exit status whether the export can:\n"
    "{}"
    "\n"
    "Exit status: 0 done (--can: yes), 1 failed, 2 wrong usage, 3 --can: no.\n"
    "\n"
    "Examples:\n"
    "  rdmablk info rdmablk://storage1/scratch\n"
    "  rdmablk info rdmablk://storage1/scratch --size\n"
    "  rdmablk info rdmablk://storage1/scratch --can discard && echo yes\n"
    "  rdmablk info rdmablk://storage1/scratch --map --offset 1G --length 64M";

/// An export, attached for reading while this lives.
struct Attached {
  Attached(const Uri& uri, const initiator::SessionOptions& session_options)
      : limit(session_options.timeout, fmt::format("look at {}", uri.text())),
        session(initiator::Session::connect(uri.target, session_options)),
        image(session->attach(uri.export_name, options())) {}

  /// No more than one request at a time, without data: it costs next to nothing of the target's
  /// memory for slots, and so works when mounts have used that up.
  static initiator::AttachOptions options() {
    initiator::AttachOptions options;
    options.access = protocol::Access::read_only;
    options.queues = 1;
    options.depth = 1;
    options.max_io = 4096;
    return options;
  }

  TimeLimit limit;  // until all the rest is gone
  std::unique_ptr<initiator::Session> session;
  std::unique_ptr<initiator::RemoteImage> image;
};

/// Attaches the export for reading, looks, and detaches it.
ExportDetails look_at(const Uri& uri, const initiator::SessionOptions& session_options) {
  return {uri, Attached(uri, session_options).image->attachment()};
}

std::uint64_t read_size(const char* option, const std::string& text) {
  const auto size = parse_size(text);
  if (size) return *size;
  throw UsageError(fmt::format(
      "{} is '{}': it takes a size: bytes, or with K, M, G or T behind the number", option, text));
}

/// The part of an export that a map is wanted of.
struct MapRange {
  std::uint64_t offset;
  std::optional<std::uint64_t> length;  ///< nothing: to the export's end

  /// @return the length. Throws UsageError when the range does not lie within the export.
  std::uint64_t within(const Uri& uri, std::uint64_t size) const {
    if (offset >= size) {
      throw UsageError(fmt::format("--offset {} lies outside {}, whose size is {} bytes", offset,
                                   uri.text(), size));
    }
    const std::uint64_t rest = size - offset;
    if (length && (*length == 0 || *length > rest)) {
      throw UsageError(
          fmt::format("--length {} does not fit: {} has {} bytes from {} on; it takes 1 to that",
                      *length, uri.text(), rest, offset));
    }
    return length.value_or(rest);
  }
};

/// The one thing that is asked for. Throws UsageError when there are several: one exit status
/// cannot answer them.
const std::string& only(const std::vector<std::string>& asked) {
  if (asked.size() == 1) return asked.front();
  throw UsageError(
      fmt::format("--can is given {} times: it asks for one thing at a time, as one exit "
                  "status answers it; run this once for each",
                  asked.size()));
}

ExportMap read_map(const Uri& uri, const MapRange& range,
                   const initiator::SessionOptions& session_options) {
  const Attached attached(uri, session_options);
  const std::uint64_t length = range.within(uri, attached.image->info().size);
  MapReader reader(*attached.image);
  const SessionWatch watch(*attached.session);
  return {uri, range.offset, reader.read(range.offset, length)};
}

}  // namespace

InfoCommand::InfoCommand(CLI::App& parent)
    : Command(parent, "info", "tell what an export is like") {
  arguments().add_option("URI", uri_, "rdmablk://HOST[:PORT]/EXPORT")->type_name("")->required();
  auto* size = arguments().add_flag("--size", size_only_, "print its size in bytes, nothing else");
  auto* can =
      arguments()
          .add_option("--can", can_,
                      "the exit status is 0 for yes, 3 for no; prints nothing without --json")
          ->type_name("WHAT")
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // so as to refuse a second one
  add_map_options();
  add_timeout_option();
  add_json_option();
  auto* map = arguments().get_option("--map");
  size->excludes(map)->excludes(can);
  can->excludes(map);
  add_credential_options();
  add_connection_options();
  add_log_level_option();
  arguments().footer(fmt::format(kInfoFooter, Capability::help()));
}

void InfoCommand::add_map_options() {
  auto* map = arguments().add_flag("--map", map_, "print where it holds data and where holes");
  arguments()
      .add_option("--offset", offset_, "of the map: where to begin")
      ->type_name("SIZE")
      ->capture_default_str()
      ->needs(map);
  arguments()
      .add_option("--length", length_, "of the map: how much of the export; default: to its end")
      ->type_name("SIZE")
      ->needs(map);
}

int InfoCommand::run() {
  const Uri uri = read_uri(uri_);
  start_log();
  if (!can_.empty()) return answer(uri, only(can_));
  if (map_) {
    print_map(uri);
  } else {
    print_details(look_at(uri, tool_options(timeout(), connection(), credentials())));
  }
  return kExitDone;
}

int InfoCommand::answer(const Uri& uri, const std::string& what) const {
  const Capability wanted(what);
  const bool can =
      wanted.is_of(look_at(uri, tool_options(timeout(), connection(), credentials())).reply.info);
  if (wants_json()) print_json(export_answer_json(uri, what, can));
  return can ? kExitDone : kExitNo;
}

void InfoCommand::print_map(const Uri& uri) const {
  MapRange range{read_size("--offset", offset_), {}};
  if (!length_.empty()) range.length = read_size("--length", length_);
  const ExportMap map = read_map(uri, range, tool_options(timeout(), connection(), credentials()));
  if (wants_json()) {
    print_json(export_map_json(map));
  } else {
    fmt::print("{}", export_map_text(map));
  }
}

void InfoCommand::print_details(const ExportDetails& details) const {
  if (size_only_ && wants_json()) {
    print_json(export_size_json(details));
  } else if (size_only_) {
    fmt::print("{}\n", details.reply.info.size);
  } else if (wants_json()) {
    print_json(export_details_json(details));
  } else {
    fmt::print("{}", export_details_text(details));
  }
}

}  // namespace rdmablk::cli
