#pragma once

#include <span>
#include <string>

#include "common/protocol/messages.h"
#include "common/uri.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// An attached export, as `rdmablk info` shows it.
struct ExportDetails {
  Uri uri;
  protocol::AttachReply reply;
};

/// The exports of a target as a table for people.
std::string export_list_text(std::span<const protocol::ExportInfo> exports);

/// The exports as `rdmablk list --json` prints them.
Json export_list_json(const HostPort& target, std::span<const protocol::ExportInfo> exports);

/// One export for people, a line for each property.
std::string export_details_text(const ExportDetails& details);

/// One export as `rdmablk info --json` prints it.
Json export_details_json(const ExportDetails& details);

/// The size of one export as `rdmablk info --size --json` prints it.
Json export_size_json(const ExportDetails& details);

/// Whether an export can do something as `rdmablk info --can WHAT --json` prints it.
Json export_answer_json(const Uri& uri, const std::string& what, bool can);

}  // namespace rdmablk::cli
