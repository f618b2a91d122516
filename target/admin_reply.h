#pragma once

#include <span>
#include <string>

#include "target/administration.h"
#include "target/target_facts.h"

/// The replies on the administration socket: a JSON object on a line, with "version" and the "id"
/// of the request, and then what was asked for, or "done", or "error", a text for people, and
/// beside that "usage": true when what is asked for makes no sense.
///
/// Keys are in snake_case with the unit at their end; what there is not is null.
namespace rdmablk::target {

/// A change was made.
/// @param id of the request, JSON.
std::string done_reply(const std::string& id);

/// It was not. @param reason for people, one line. @param is_usage what is asked for makes no
/// sense.
std::string error_reply(const std::string& id, const std::string& reason, bool is_usage = false);

/// "status". @param now of the clock that the facts are of.
std::string status_reply(const std::string& id, const TargetFacts& facts, const Counts& counts,
                         std::span<const ExportStatus> exports,
                         std::chrono::steady_clock::time_point now);

/// "exports", in the order of their names.
std::string exports_reply(const std::string& id, std::span<const ExportStatus> exports);

/// "sessions", in the order of their numbers.
std::string sessions_reply(const std::string& id, std::span<const SessionStatus> sessions);

}  // namespace rdmablk::target
