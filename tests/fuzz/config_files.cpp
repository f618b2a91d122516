// Configuration files of the target: read, or refused with complaints that name a place in the
// file. An export that is read can be written, and is read as the same again.
#include <CLI/CLI.hpp>

#include "common/error.h"
#include "target/config_export.h"
#include "target/config_keys.h"
#include "target/config_writer.h"
#include "target/option_draft.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

using target::Complaints;
using target::ConfigEntry;

void check_export(const ConfigEntry& entry, Complaints& complaints) {
  const std::size_t before = complaints.count();
  const auto spec = target::read_export(entry, complaints);
  require(spec.has_value() == (complaints.count() == before),
          "an export is read, or complained about");
  if (!spec) return;
  const auto entries = target::parse_config_text(target::export_text(*spec), "again");
  const auto again = target::read_export(entries.at(0).value.entries.at(0), complaints);
  require(again == spec, "an export that is written is read as the same");
}

void read(std::string_view text) {
  target::OptionDraft draft;
  CLI::App app;
  target::describe_options(app, draft);
  Complaints complaints;
  for (const ConfigEntry& entry : target::parse_config_text(text, "file")) {
    require(entry.place.line > 0 && entry.place.column > 0, "a key has a place");
    if (entry.key != "export") {
      target::apply_key(app, entry, complaints);
    } else {
      for (const ConfigEntry& one : entry.value.entries) check_export(one, complaints);
    }
  }
  complaints.raise();
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rdmablk;  // NOLINT(google-build-using-namespace)
  try {
    fuzz::read({reinterpret_cast<const char*>(data), size});
  } catch (const target::ConfigError& error) {
    fuzz::require(std::string_view(error.what()).starts_with("file"),
                  "a complaint names its place");
  }
  return 0;
}
