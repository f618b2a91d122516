#include <CLI/CLI.hpp>
#include <limits>
#include <string>
#include <vector>

#include "common/cm/setting_options.h"
#include "common/error.h"
#include "common/export_name.h"
#include "common/log.h"
#include "common/metrics/metrics_address.h"
#include "common/option_values.h"
#include "target/limit_options.h"
#include "target/option_draft.h"
#include "target/option_kinds.h"

namespace rdmablk::target {
namespace {

constexpr std::size_t kMaxIoThreads = 256;
constexpr std::uint32_t kMaxSlots = 1024;
constexpr std::uint64_t kMinSlotSize = 4096;
constexpr std::uint64_t kMaxSlotSize = std::uint64_t{16} << 20;
constexpr std::uint64_t kMaxSlotMemory = std::uint64_t{1} << 50;

std::vector<cm::Method> read_methods(const std::string& text) {
  if (text == "rdmacm") return {cm::Method::rdmacm};
  if (text == "tcp") return {cm::Method::tcp};
  if (text == "both") return {cm::Method::rdmacm, cm::Method::tcp};
  throw UsageError(fmt::format("--cm takes rdmacm, tcp or both, not '{}'", text));
}

constexpr const char* kForExperts = "For experts";

void check_discards(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_export_name(name)) continue;
    throw UsageError(fmt::format("--discard is '{}', which no export can be called", name));
  }
}

void describe_exports(CLI::App& app, OptionDraft& draft) {
  const auto take_exports = [&draft](const std::vector<std::string>& texts) {
    draft.command_line_exports = parse_export_specs(texts);
  };
  app.add_option_function<std::vector<std::string>>(
         "--export", take_exports,
         "An export of memory, of a file or of a block device; may be given several times. "
         "size: makes the file when it is missing, with sparse unallocated. shared: any "
         "number of initiators may write to it at a time, not one. resident: the file is "
         "loaded into memory, and takes huge and chunk too. save: the file that keeps memory "
         "while no target runs. allow: which clients may have "
         "it, and how; may be repeated, and without any all may. A comma within a value is "
         "written \\,")
      ->type_name(
          "NAME=memory:SIZE[,huge=2M|1G][,readonly][,shared][,chunk=SIZE][,save=PATH]"
          "[,allow=CLIENT[:ro|:rw][@ADDRESS[/BITS]]] or "
          "NAME=file:PATH[,size=SIZE][,sparse][,direct=auto|on|off][,readonly][,shared][,resident]"
          "[,allow=...]")
      ->allow_extra_args(false);
  const auto take_discards = [&draft](const std::vector<std::string>& names) {
    check_discards(names);
    draft.options.discards = names;
  };
  app.add_option_function<std::vector<std::string>>(
         "--discard", take_discards,
         "Let go of the memory that an earlier process left of this export, with what is in "
         "it; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
}

void describe_access(CLI::App& app, OptionDraft& draft) {
  Options& options = draft.options;
  add_text(
      app, "--auth", "FILE", [&](const std::string& path) { options.key_file = path; },
      "Serve only clients that prove that they have one of the keys in FILE, which has "
      "lines of CLIENT KEY as `rdmablk keygen CLIENT` prints them, and mode 0600. Two "
      "lines of one client are two keys that are both good. SIGHUP reads it again");
  app.add_flag("--insecure", draft.insecure,
               "In place of --auth: any host that reaches the port may read and write the exports");
  app.add_flag("--show-paths", options.show_paths,
               "Show initiators the whole path of an export's file, not its name alone");
}

void describe_places(CLI::App& app, OptionDraft& draft) {
  Options& options = draft.options;
  const auto take_places = [&draft](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) parse_listen(text, draft.methods);
    draft.listen = texts;
  };
  app.add_option_function<std::vector<std::string>>(
         "--listen", take_places,
         "Where to listen; may be given several times, without it on all addresses. Without PORT "
         "it "
         "is 10812 for rdmacm and 10813 for tcp; with --cm both, tcp gets the port after PORT")
      ->type_name("ADDR[:PORT]")
      ->allow_extra_args(false);
  add_text(
      app, "--state-dir", "DIRECTORY",
      [&](const std::string& path) { options.state_directory = path; },
      "Where is kept what initiators know exports by, so that they find them again after "
      "a restart; without it $STATE_DIRECTORY, or /var/lib/rdmablk for root, or "
      "~/.local/state/rdmablk");
  add_text(
      app, "--metrics", kPort,
      [&](const std::string& text) {
        options.metrics = metrics::parse_metrics_address("--metrics", text);
      },
      "Where Prometheus, and a browser, may read how the target is doing; loopback without ADDR");
  add_text(
      app, "--pidfile", "FILE", [&](const std::string& path) { options.pidfile = path; },
      "Write the number of this process to FILE when it serves, and remove FILE at the end");
  add_text(
      app, "--log-level", "LEVEL",
      [&](const std::string& level) {
        check_log_level(level);
        options.log_level = level;
      },
      "trace, debug, info, warning or error")
      ->default_str(options.log_level);
}

void describe_connections(CLI::App& app, OptionDraft& draft) {
  add_text(
      app, "--cm", "rdmacm|tcp|both",
      [&](const std::string& text) { draft.methods = read_methods(text); },
      "how clients connect: by rdma_cm, which needs IP addresses on the RDMA network, by TCP over "
      "any network, or by either")
      ->default_str("rdmacm")
      ->group(cm::kSettingGroup);
  cm::describe_settings(app, [&](std::string_view name, const std::string& value) {
    cm::set(draft.options.connections, name, cm::Spelling::command_line, value);
  });
}

void describe_slots(CLI::App& app, OptionDraft& draft) {
  Options& options = draft.options;
  add_number(app, "--io-threads", options.io_threads, 1, kMaxIoThreads,
             "Threads that work on requests for file exports; by default as many as there are "
             "processors, and no more than 4")
      ->default_str("");  // another one on each machine
  add_number(app, "--slots", options.limits.slots, 1, kMaxSlots,
             "Requests in flight on an I/O queue of a file export");
  add_text(
      app, "--slot-size", kSize,
      [&](const std::string& text) {
        options.limits.slot_size = static_cast<std::uint32_t>(
            parse_memory("--slot-size", text, kMinSlotSize, kMaxSlotSize));
      },
      "The largest request to a file export; larger ones are split")
      ->default_str("128K");
  add_text(
      app, "--slot-memory", kSize,
      [&](const std::string& text) {
        options.slot_memory = parse_memory("--slot-memory", text, kMinSlotSize, kMaxSlotMemory);
      },
      "Memory that the I/O queues of all file exports may use: for each, slots times "
      "their size and that of the messages")
      ->default_str("1G");
}

void describe_features(CLI::App& app, OptionDraft& draft) {
  const auto mask = [&draft](const std::string& text) {
    draft.options.limits.features =
        protocol::kKnownFeatures.without(protocol::parse_features("--mask-features", text));
  };
  add_text(app, "--mask-features", kMask, mask,
           "Do as a target that does not know these features of the protocol: numbers such "
           "as 0x1, names (" +
               protocol::kKnownFeatures.text() + "), or all")
      ->group(kForExperts);
}

void describe_start(CLI::App& app, OptionDraft& draft) {
  Options& options = draft.options;
  add_text(
      app, "--config", "FILE", [&](const std::string& path) { options.config = path; },
      "Read options from FILE, a line slot_size = \"64K\" for --slot-size 64K, and then from what "
      "ends in .toml in its directory FILE.d (target.d for target.toml), in order of name; what is "
      "read later wins, and the command line over all. SIGHUP reads them again")
      ->group(kCommandLineOnly);
  app.add_flag("--check-config", draft.invocation.check_config,
               "Check the options, and whether a start with them would succeed, and end")
      ->group(kCommandLineOnly);
  add_text(
      app, "--as-user", "USER", [&](const std::string& name) { draft.invocation.as_user = name; },
      "With --check-config: check what this user may do, such as that of the service")
      ->group(kCommandLineOnly);
  add_text(
      app, "--run", "COMMAND", [&](const std::string& command) { options.command = command; },
      "Serve as long as COMMAND runs, a command line of sh(1), and end with its status. It has "
      "$uri, that of the first export, $exports, the names of all, $host and $port. Without "
      "--listen, listens on 127.0.0.1 at a free port")
      ->group(kCommandLineOnly);
  add_text(
      app, "--succeed", "PID",
      [&](const std::string& text) {
        options.predecessor = static_cast<pid_t>(
            read_number("--succeed", text, 1, std::numeric_limits<pid_t>::max()));
      },
      "Take over from the target that is this process: it hands its memory over, and ends when "
      "this one serves. One that does not answer within 10 s is left alone")
      ->group(kCommandLineOnly);
}

}  // namespace

void describe_options(CLI::App& app, OptionDraft& draft) {
  app.set_version_flag("--version", "rdmablk-target " RDMABLK_VERSION);
  describe_exports(app, draft);
  describe_access(app, draft);
  describe_places(app, draft);
  describe_connections(app, draft);
  describe_limits(app, draft.options);
  draft.options.admin.describe(app);
  describe_slots(app, draft);
  describe_features(app, draft);
  describe_start(app, draft);
  refuse_empty_values(app);
}

}  // namespace rdmablk::target
