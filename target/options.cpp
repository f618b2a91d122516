#include "target/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>
#include <utility>

#include "common/arguments.h"
#include "common/cm/setting_options.h"
#include "common/error.h"
#include "common/units.h"
#include "target/configuration.h"
#include "target/option_draft.h"

namespace rdmablk::target {
namespace {

constexpr const char* kProgram = "rdmablk-target";
constexpr const char* kDescription =
    "Lends memory and files of this machine to others as block images over RDMA.";

constexpr unsigned kDefaultIoThreads = 4;
constexpr std::uint64_t kDefaultSlotMemory = std::uint64_t{1} << 30;

/// Whoever lets everybody in has to say so.
void check_authentication(const Options& options, bool insecure) {
  if (options.key_file && insecure) {
    throw UsageError(
        "--auth and --insecure exclude each other: either clients prove who they are, "
        "or nobody has to");
  }
  if (!options.key_file && !insecure) {
    throw UsageError(
        "--auth FILE is missing, the keys of the clients (`rdmablk keygen` makes one); without it, "
        "any host that reaches the port may read and write the exports: give --insecure to say "
        "that this is meant (in a configuration: auth = \"FILE\", or insecure = true)");
  }
  if (options.key_file) return;
  for (const ExportSpec& spec : options.exports) {
    if (spec.rules.clients().empty()) continue;
    throw UsageError(
        fmt::format("export '{}' is for client '{}', and with --insecure nobody proves "
                    "who they are: allow=* goes with it, or --auth FILE",
                    spec.name, spec.rules.clients().front()));
  }
}

/// Who listens by rdma_cm takes connections to an address, whatever GID and port have it.
void check_connections(const cm::Settings& settings, std::span<const cm::Method> methods) {
  for (const cm::Method method : methods) {
    cm::check(settings, method, cm::Spelling::command_line);
    if (method == cm::Method::tcp || !(settings.gid_index || settings.port)) continue;
    throw UsageError(fmt::format(
        "{} goes with --cm tcp alone: by rdma_cm a target takes connections to addresses; "
        "--listen ADDRESS says which",
        settings.gid_index ? "--gid-index" : "the port of --device"));
  }
}

void check_client_slot_memory(const Options& options) {
  if (!options.client_slot_memory || *options.client_slot_memory <= options.slot_memory) return;
  throw UsageError(fmt::format("--client-slot-memory is {}, which is more than --slot-memory, {}",
                               format_size(*options.client_slot_memory),
                               format_size(options.slot_memory)));
}

/// A target that has a configuration may be given its exports while it runs.
void check_exports(const Options& options) {
  if (!options.exports.empty() || options.config) return;
  throw UsageError(
      "there is nothing to export: give --export NAME=memory:SIZE or --export NAME=file:PATH, or "
      "--config FILE; --help shows how to use it");
}

std::vector<ListenPlace> places_to_listen(const OptionDraft& draft) {
  std::vector<ListenPlace> places;
  const auto add = [&](const std::string& text) {
    for (ListenPlace& place : parse_listen(text, draft.methods)) places.push_back(std::move(place));
  };
  for (const std::string& text : draft.listen) add(text);
  if (!places.empty()) return places;
  if (draft.options.command) return parse_listen("127.0.0.1:0", draft.methods);
  add("0.0.0.0");
  add("[::]");
  for (ListenPlace& place : places) place.is_wanted = false;
  return places;
}

}  // namespace

OptionDraft::OptionDraft() {
  options.io_threads = std::clamp(std::thread::hardware_concurrency(), 1U, kDefaultIoThreads);
  options.slot_memory = kDefaultSlotMemory;
}

Options finish(OptionDraft draft) {
  check_connections(draft.options.connections, draft.methods);
  draft.options.listen = places_to_listen(draft);
  Options options = std::move(draft.options);
  for (ExportSpec& spec : draft.command_line_exports) options.exports.push_back(std::move(spec));
  check_exports(options);
  check_authentication(options, draft.insecure);
  check_client_slot_memory(options);
  options.admin.check();
  return options;
}

std::vector<ListenPlace> parse_listen(std::string_view text, std::span<const cm::Method> methods) {
  constexpr std::string_view kAnyPort = ":0";
  const bool one_colon = std::count(text.begin(), text.end(), ':') == 1;
  const bool bracketed = text.size() > kAnyPort.size() && text[text.size() - 3] == ']';
  const bool any_port = text.ends_with(kAnyPort) && (one_colon || bracketed);
  if (any_port) text.remove_suffix(kAnyPort.size());
  constexpr std::uint16_t kNoPort = 0;
  const HostPort given = parse_host_port(text, kNoPort);
  std::vector<ListenPlace> places;
  for (const cm::Method method : methods) {
    HostPort where = given;
    if (given.port == kNoPort) {
      where.port = any_port ? 0 : cm::default_port(method);
    } else if (given.port > UINT16_MAX - places.size()) {
      throw UsageError(fmt::format(
          "--listen {}: with --cm both TCP gets the port after it, and there is none", text));
    } else {
      where.port = static_cast<std::uint16_t>(given.port + places.size());
    }
    places.push_back({method, where});
  }
  return places;
}

std::optional<Invocation> parse_invocation(int argc, const char* const* argv) {
  OptionDraft draft;
  CLI::App app(kDescription, kProgram);
  describe_options(app, draft);
  if (!read_arguments(app, argc, argv)) return std::nullopt;
  if (draft.invocation.as_user && !draft.invocation.check_config) {
    throw UsageError(
        "--as-user goes with --check-config; to serve as another user, start it as that user");
  }
  return draft.invocation;
}

Options load_options(int argc, const char* const* argv) {
  OptionDraft draft;
  CLI::App app(kDescription, kProgram);
  describe_options(app, draft);
  read_arguments(app, argc, argv);
  if (!draft.options.config) return finish(std::move(draft));
  OptionDraft configured;
  CLI::App both(kDescription, kProgram);
  describe_options(both, configured);
  Configuration configuration(*draft.options.config);
  configuration.apply(both, configured, draft.command_line_exports);
  read_arguments(both, argc, argv);
  return configuration.finish(both, std::move(configured));
}

std::optional<Options> parse_options(int argc, const char* const* argv) {
  if (!parse_invocation(argc, argv)) return std::nullopt;
  return load_options(argc, argv);
}

}  // namespace rdmablk::target
