#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "target/administration.h"

/// What an administrator may ask for over the administration socket: a JSON object on a line.
///
///     {"version": 1, "id": 7, "request": "export_add", "export": "disk=memory:4G"}
///
/// `id` is a number or a short text, which the reply repeats; it may be left out. A key that is not
/// known is refused rather than overlooked: it may be what the request hinges on.
namespace rdmablk::target {

/// How the target is doing. "status"
struct StatusQuery {};

/// All exports. "exports"
struct ExportsQuery {};

/// All sessions. "sessions"
struct SessionsQuery {};

/// "export_add", with "export": a text as --export takes it, or an object, whose keys are "name",
/// "type" ("memory", "file"), "size" (bytes, or a text with a unit), "path", and the options of
/// --export: those without a value are booleans, "allow" is a list. Paths are absolute.
struct ExportAddition {
  ExportSpec spec;
  bool run_time = false;  ///< "runtime": it is not to be kept
};

/// "export_remove", with "name", "force", "discard" and "runtime".
struct ExportRemoval {
  std::string name;
  RemoveOptions options;
  bool run_time = false;  ///< a later start, and a reload, bring it back
};

/// "export_resize", with "name", "size" (bytes; or a text with a unit, and "+" or "-" in front of
/// what is to be added or taken off) and "shrink".
struct ExportResizing {
  enum class Change { to, by_more, by_less };

  std::string name;
  Change change = Change::to;
  std::uint64_t bytes = 0;  ///< a multiple of 512, not zero
  bool may_shrink = false;  ///< what is cut off is lost, and that is meant
  bool run_time = false;
};

/// "session_evict", with "session" and "reason", which may be left out.
struct SessionEviction {
  std::uint32_t session = 0;
  std::string reason;
};

/// "reload"
struct ReloadOrder {};

struct AdminRequest {
  using Order = std::variant<StatusQuery, ExportsQuery, SessionsQuery, ExportAddition,
                             ExportRemoval, ExportResizing, SessionEviction, ReloadOrder>;

  std::string id;  ///< JSON: a number, a text or null
  Order order;

  /// Whether it would change something.
  bool is_change() const noexcept { return order.index() > 2; }

  /// What it asks for, for the log: "export_add disk".
  std::string text() const;
};

/// What is no such request.
struct AdminRefusal {
  std::string id;      ///< as above; "null" when there was none to be read
  std::string reason;  ///< for people, one line

  /// Whether what is asked for makes no sense, such as the name of an export; false: it is no
  /// request of this version.
  bool is_usage = false;
};

/// Reads a line, whatever it is.
std::variant<AdminRequest, AdminRefusal> decode_admin_request(std::string_view line);

}  // namespace rdmablk::target
