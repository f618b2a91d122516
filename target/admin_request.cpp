#include "target/admin_request.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/error.h"
#include "common/export_name.h"
#include "target/admin_members.h"
#include "target/admin_spec.h"
#include "target/spec_options.h"

namespace rdmablk::target {
namespace {

using nlohmann::json;
using Order = AdminRequest::Order;

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMaxId = 64;
constexpr std::size_t kMaxReason = 200;
constexpr const char* kDefaultReason = "an administrator ended it";

std::string read_name(AdminMembers& members) {
  std::string name = members.needed_text("name");
  if (is_export_name(name)) return name;
  throw UsageError(fmt::format("'{}' is not a name of an export", name.substr(0, kMaxExportName)));
}

Order read_addition(AdminMembers& members) {
  const json* const spec = members.member("export");
  if (spec == nullptr) throw UsageError("the request needs 'export'");
  return ExportAddition{read_admin_spec(*spec), members.flag("runtime")};
}

Order read_removal(AdminMembers& members) {
  ExportRemoval removal;
  removal.name = read_name(members);
  removal.options.force = members.flag("force");
  removal.options.discard = members.flag("discard");
  removal.run_time = members.flag("runtime");
  return removal;
}

Order read_resizing(AdminMembers& members) {
  using Change = ExportResizing::Change;
  ExportResizing resizing;
  resizing.name = read_name(members);
  const auto text = members.size("size");
  if (!text || text->empty()) throw UsageError("the request needs 'size'");
  if (text->front() == '+') resizing.change = Change::by_more;
  if (text->front() == '-') resizing.change = Change::by_less;
  const auto digits = std::string_view(*text).substr(resizing.change == Change::to ? 0 : 1);
  resizing.bytes = parse_export_size(digits, resizing.name);
  resizing.may_shrink = members.flag("shrink");
  resizing.run_time = members.flag("runtime");
  return resizing;
}

Order read_eviction(AdminMembers& members) {
  SessionEviction eviction;
  eviction.session = static_cast<std::uint32_t>(
      members.needed_number("session", std::numeric_limits<std::uint32_t>::max()));
  eviction.reason = members.text("reason").value_or("");
  if (eviction.reason.size() > kMaxReason) {
    throw UsageError(fmt::format("'reason' is longer than {} bytes", kMaxReason));
  }
  if (eviction.reason.empty()) eviction.reason = kDefaultReason;
  return eviction;
}

/// What belongs to a request makes no sense.
class WrongArgument : public UsageError {
 public:
  using UsageError::UsageError;
};

Order read_with(AdminMembers& members, Order (*read)(AdminMembers&)) {
  try {
    return read(members);
  } catch (const UsageError& error) {
    throw WrongArgument(error.what());
  }
}

Order read_order(AdminMembers& members) {
  const std::string request = members.needed_text("request");
  if (request == "status") return StatusQuery{};
  if (request == "exports") return ExportsQuery{};
  if (request == "sessions") return SessionsQuery{};
  if (request == "export_add") return read_with(members, read_addition);
  if (request == "export_remove") return read_with(members, read_removal);
  if (request == "export_resize") return read_with(members, read_resizing);
  if (request == "session_evict") return read_with(members, read_eviction);
  if (request == "reload") return ReloadOrder{};
  throw UsageError(fmt::format("there is no request '{}' in this target", request.substr(0, 64)));
}

/// @return nothing for what an id cannot be.
std::optional<std::string> read_id(const json& document) {
  const auto found = document.find("id");
  if (found == document.end() || found->is_null()) return "null";
  const bool is_text = found->is_string() && found->get_ref<const std::string&>().size() <= kMaxId;
  if (!is_text && !found->is_number_integer()) return std::nullopt;
  return found->dump();
}

AdminRequest read(const json& document, const std::string& id) {
  AdminMembers members(document, "the request");
  members.member("id");
  if (members.needed_number("version", std::numeric_limits<std::uint64_t>::max()) != kVersion) {
    throw UsageError(fmt::format("this target speaks version {} of these requests", kVersion));
  }
  AdminRequest request{id, read_order(members)};
  members.finish();
  return request;
}

struct Text {
  std::string operator()(const StatusQuery& /*order*/) const { return "status"; }
  std::string operator()(const ExportsQuery& /*order*/) const { return "exports"; }
  std::string operator()(const SessionsQuery& /*order*/) const { return "sessions"; }
  std::string operator()(const ReloadOrder& /*order*/) const { return "reload"; }
  std::string operator()(const ExportAddition& order) const {
    return fmt::format("export_add {}", order.spec.name);
  }
  std::string operator()(const ExportRemoval& order) const {
    return fmt::format("export_remove {}{}{}", order.name, order.options.force ? " force" : "",
                       order.options.discard ? " discard" : "");
  }
  std::string operator()(const ExportResizing& order) const {
    constexpr std::array<const char*, 3> kSigns{"", "+", "-"};
    return fmt::format("export_resize {} {}{}", order.name,
                       kSigns.at(static_cast<std::size_t>(order.change)), order.bytes);
  }
  std::string operator()(const SessionEviction& order) const {
    return fmt::format("session_evict {}", order.session);
  }
};

}  // namespace

std::string AdminRequest::text() const {
  return std::visit(Text{}, order);
}

std::variant<AdminRequest, AdminRefusal> decode_admin_request(std::string_view line) {
  const json document = json::parse(line, nullptr, false);
  if (!document.is_object()) {
    return AdminRefusal{"null", "a request is a JSON object on a line of its own"};
  }
  const auto id = read_id(document);
  if (!id) {
    return AdminRefusal{"null",
                        fmt::format("'id' takes a number, or a text of at most {} bytes", kMaxId)};
  }
  try {
    return read(document, *id);
  } catch (const WrongArgument& error) {
    return AdminRefusal{*id, error.what(), true};
  } catch (const UsageError& error) {
    return AdminRefusal{*id, error.what()};
  }
}

}  // namespace rdmablk::target
