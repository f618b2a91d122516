#include "target/export_state.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/uuid.h"
#include "target/json_number.h"

namespace rdmablk::target {
namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;

/// Throws what parse() turns into "damaged".
protocol::Uuid uuid_from(const json& text) {
  return parse_uuid(text.get<std::string>()).value();
}

ExportState from(const json& document) {
  ExportState state;
  if (number_from(document.at("version")) != kVersion) throw std::out_of_range("version");
  document.at("path").get_to(state.path);
  document.at("file").get_to(state.file);
  state.size = number_from(document.at("size_bytes"));
  if (const auto found = document.find("next_size_bytes"); found != document.end()) {
    state.next_size = number_from(*found);
  }
  state.was_resized = document.value("resized", false);
  state.uuid = uuid_from(document.at("uuid"));
  state.generation = uuid_from(document.at("generation"));
  state.lease = number_from(document.at("lease"));
  document.at("boot_id").get_to(state.boot);
  document.at("clean").get_to(state.clean);
  if (const auto found = document.find("memory"); found != document.end()) {
    state.memory = uuid_from(*found);
  }
  return state;
}

}  // namespace

std::string ExportState::encode() const {
  json document{{"version", kVersion},
                {"path", path},
                {"file", file},
                {"size_bytes", size},
                {"uuid", format_uuid(uuid)},
                {"generation", format_uuid(generation)},
                {"lease", lease},
                {"boot_id", boot},
                {"clean", clean}};
  if (was_resized) document["resized"] = true;
  if (next_size) document["next_size_bytes"] = *next_size;
  if (memory) document["memory"] = format_uuid(*memory);
  // A path need not be UTF-8.
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<ExportState> ExportState::decode(std::string_view text) {
  try {
    ExportState state = from(json::parse(text));
    if (state.lease == 0 || state.boot.empty()) return std::nullopt;
    return state;
  } catch (const json::exception& /*error*/) {
    return std::nullopt;
  } catch (const std::bad_optional_access& /*error*/) {
    return std::nullopt;
  } catch (const std::out_of_range& /*error*/) {
    return std::nullopt;
  }
}

Continuity compare(const ExportState& before, const FoundContent& now) {
  const bool memory_remains = now.memory && before.memory == now.memory;
  if (before.size != now.size && before.next_size != now.size) return Continuity::other;
  if (memory_remains) return Continuity::same;
  if (before.file != now.file) return Continuity::other;
  // The kernel keeps what a process that was killed has written to a file, but not its memory.
  const bool kernel_remains = before.boot == now.boot && !before.memory;
  return before.clean || kernel_remains ? Continuity::same : Continuity::may_lack_writes;
}

}  // namespace rdmablk::target
