#include "target/config_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/nearest_word.h"
#include "target/spec_options.h"

namespace rdmablk::target {
namespace {

const std::vector<std::string> kFlags{"readonly", "shared", "sparse", "resident"};
const std::vector<std::string> kTexts{"type", "path", "save", "direct"};
const std::vector<std::string> kSizes{"size", "huge", "chunk"};
constexpr std::string_view kAllow = "allow";

using Kind = ConfigValue::Kind;

class ExportReader {
 public:
  ExportReader(const ConfigEntry& table, Complaints& complaints)
      : table_(table), complaints_(complaints) {}

  std::optional<ExportSpec> read() {
    const std::size_t before = complaints_.count();
    attempt(table_.place, [&] { spec_.name = parse_export_name(table_.key); });
    check_types();
    if (complaints_.count() > before) return std::nullopt;
    spec_.origin = ExportOrigin::configuration;
    take_type();
    if (complaints_.count() > before) return std::nullopt;
    SpecOptions options(spec_);
    for (const ConfigEntry& entry : table_.value.entries) take(entry, options);
    if (complaints_.count() > before) return std::nullopt;
    attempt(table_.place, [&] { options.finish(); });
    if (complaints_.count() > before) return std::nullopt;
    return std::move(spec_);
  }

 private:
  template <typename Call>
  void attempt(const ConfigPlace& place, Call call) {
    try {
      call();
    } catch (const UsageError& error) {
      complaints_.add(place, error.what());
    }
  }

  static bool is_one_of(const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }

  const ConfigEntry* find(std::string_view key) const {
    for (const ConfigEntry& entry : table_.value.entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }

  void check_types() {
    for (const ConfigEntry& entry : table_.value.entries) check_type(entry);
  }

  void check_type(const ConfigEntry& entry) {
    const Kind kind = entry.value.kind;
    const char* wanted = nullptr;
    if (is_one_of(kFlags, entry.key)) {
      if (kind != Kind::flag) wanted = "true or false";
    } else if (is_one_of(kSizes, entry.key)) {
      if (kind != Kind::text) wanted = "a text or a number";
    } else if (is_one_of(kTexts, entry.key)) {
      if (kind != Kind::text || entry.value.has_numbers) wanted = "a text";
    } else if (entry.key == kAllow) {
      const bool is_right = kind == Kind::text || kind == Kind::list;
      if (!is_right || entry.value.has_numbers) wanted = "texts in an array";
      if (kind == Kind::list && entry.value.texts.empty()) return complain_about_nobody(entry);
    } else {
      return complain_about_key(entry);
    }
    if (wanted == nullptr) return;
    complaints_.add(entry.value_place,
                    fmt::format("{} takes {}, not {}", entry.key, wanted, entry.value.type));
  }

  /// It would be served to everybody, as one without the key.
  void complain_about_nobody(const ConfigEntry& entry) {
    complaints_.add(entry.value_place,
                    "allow takes one client at least; take the export out to serve it to nobody, "
                    "or leave allow out to serve it to every client");
  }

  void complain_about_key(const ConfigEntry& entry) {
    std::vector<std::string_view> known(kFlags.begin(), kFlags.end());
    known.insert(known.end(), kTexts.begin(), kTexts.end());
    known.insert(known.end(), kSizes.begin(), kSizes.end());
    known.push_back(kAllow);
    complaints_.add(entry.place, fmt::format("unknown key '{}' of an export{}", entry.key,
                                             suggestion(entry.key, known)));
  }

  void take_type() {
    const ConfigEntry* const type = find("type");
    if (type == nullptr) {
      return complaints_.add(
          table_.place, fmt::format("export '{}' has no type: it is type = \"memory\", with size, "
                                    "or type = \"file\", with path",
                                    spec_.name));
    }
    const std::string& name = type->value.texts.front();
    const bool is_memory = name == "memory";
    if (!is_memory && name != "file") {
      return complaints_.add(
          type->value_place,
          fmt::format("export '{}' is of type '{}': there are memory and file", spec_.name, name));
    }
    const char* const key = is_memory ? "size" : "path";
    const ConfigEntry* const argument = find(key);
    if (argument == nullptr) {
      return complaints_.add(
          table_.place, fmt::format("export '{}' of type {} has no {}", spec_.name, name, key));
    }
    attempt(argument->value_place, [&] {
      set_argument(spec_, is_memory ? protocol::ExportKind::memory : protocol::ExportKind::file,
                   argument->value.texts.front());
    });
  }

  /// What `type` and its argument are is known by now.
  bool is_taken(const ConfigEntry& entry) const {
    if (entry.key == "type") return true;
    return entry.key == (spec_.has_file() ? "path" : "size");
  }

  void take(const ConfigEntry& entry, SpecOptions& options) {
    if (is_taken(entry)) return;
    if (is_one_of(kFlags, entry.key)) {
      if (entry.value.flag) attempt(entry.place, [&] { options.take(entry.key); });
      return;
    }
    for (const std::string& text : entry.value.texts) {
      attempt(entry.value_place, [&] { options.take(fmt::format("{}={}", entry.key, text)); });
    }
  }

  const ConfigEntry& table_;
  Complaints& complaints_;
  ExportSpec spec_;
};

}  // namespace

std::optional<ExportSpec> read_export(const ConfigEntry& table, Complaints& complaints) {
  if (table.value.kind != Kind::table) {
    complaints.add(table.value_place,
                   fmt::format("export '{}' is {}: an export is a table, [export.{}]", table.key,
                               table.value.type, table.key));
    return std::nullopt;
  }
  return ExportReader(table, complaints).read();
}

}  // namespace rdmablk::target
