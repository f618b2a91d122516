#include "target/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <thread>

#include "common/arguments.h"
#include "common/error.h"
#include "common/export_name.h"
#include "common/option_values.h"
#include "common/units.h"
#include "target/limit_options.h"
#include "target/number_option.h"

namespace rdmablk::target {
namespace {

constexpr unsigned kDefaultIoThreads = 4;
constexpr std::size_t kMaxIoThreads = 256;
constexpr std::uint32_t kMaxSlots = 1024;
constexpr std::uint64_t kMinSlotSize = 4096;
constexpr std::uint64_t kMaxSlotSize = std::uint64_t{16} << 20;

/// The command line as texts.
struct Arguments {
  std::vector<std::string> exports;
  std::optional<std::string> listen;
  std::string device;
  std::optional<std::string> state_directory;
  std::vector<std::string> discards;
  std::optional<pid_t> predecessor;
  std::string log_level = "info";
  LimitOptions limits;
  AdminOptions admin;
  std::size_t io_threads = std::clamp(std::thread::hardware_concurrency(), 1U, kDefaultIoThreads);
  std::uint32_t slots = Limits{}.slots;
  std::string slot_size = "128K";
  std::string slot_memory = "1G";
  bool show_paths = false;
  std::string key_file;
  bool insecure = false;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", "rdmablk-target " RDMABLK_VERSION);
  app.add_option(
         "--export", arguments.exports,
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
      ->allow_extra_args(false)
      ->required();
  app.add_option("--listen", arguments.listen,
                 "Where to listen; without it on all addresses, at port 10812")
      ->type_name("ADDR[:PORT]");
  app.add_option("--device", arguments.device, "Use this RDMA device only")->type_name("DEVICE");
  app.add_option(
         "--state-dir", arguments.state_directory,
         "Where is kept what initiators know exports by, so that they find them again after "
         "a restart; without it $STATE_DIRECTORY, or /var/lib/rdmablk for root, or "
         "~/.local/state/rdmablk")
      ->type_name("DIRECTORY");
  const auto succeed = [&](const std::string& text) {
    arguments.predecessor =
        static_cast<pid_t>(read_number("--succeed", text, 1, std::numeric_limits<pid_t>::max()));
  };
  app.add_option_function<std::string>(
         "--succeed", succeed,
         "Take over from the target that is this process: it hands its memory over, and ends when "
         "this one serves. One that does not answer within 10 s is left alone")
      ->type_name("PID");
  app.add_option(
         "--discard", arguments.discards,
         "Let go of the memory that an earlier process left of this export, with what is in "
         "it; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  arguments.limits.describe(app);
  arguments.admin.describe(app);
  add_number(app, "--io-threads", arguments.io_threads, 1, kMaxIoThreads,
             "Threads that work on requests for file exports");
  add_number(app, "--slots", arguments.slots, 1, kMaxSlots,
             "Requests in flight on an I/O queue of a file export");
  app.add_option("--slot-size", arguments.slot_size,
                 "The largest request to a file export; larger ones are split")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--slot-memory", arguments.slot_memory,
                 "Memory that the I/O queues of all file exports may use: for each, slots times "
                 "their size and that of the messages")
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_flag("--show-paths", arguments.show_paths,
               "Show initiators the whole path of an export's file, not its name alone");
  app.add_option("--log-level", arguments.log_level, "trace, debug, info, warning or error")
      ->type_name("LEVEL")
      ->capture_default_str();
  app.add_option("--auth", arguments.key_file,
                 "Serve only clients that prove that they have one of the keys in FILE, which has "
                 "lines of CLIENT KEY as `rdmablk keygen CLIENT` prints them, and mode 0600. Two "
                 "lines of one client are two keys that are both good. SIGHUP reads it again")
      ->type_name("FILE");
  app.add_flag("--insecure", arguments.insecure,
               "In place of --auth: any host that reaches the port may read and write the exports");
}

std::vector<HostPort> listen_addresses(const Arguments& arguments) {
  if (arguments.listen) return {parse_listen(*arguments.listen)};
  return {HostPort{"0.0.0.0"}, HostPort{"::"}};
}

/// Whoever lets everybody in has to say so.
void check_authentication(const Arguments& arguments, const std::vector<ExportSpec>& exports) {
  const bool has_keys = !arguments.key_file.empty();
  if (has_keys && arguments.insecure) {
    throw UsageError(
        "--auth and --insecure exclude each other: either clients prove who they are, "
        "or nobody has to");
  }
  if (!has_keys && !arguments.insecure) {
    throw UsageError(
        "--auth FILE is missing, the keys of the clients (`rdmablk keygen` makes one); without it, "
        "any host that reaches the port may read and write the exports: give --insecure to say "
        "that "
        "this is meant");
  }
  if (has_keys) return;
  for (const ExportSpec& spec : exports) {
    if (spec.rules.clients().empty()) continue;
    throw UsageError(
        fmt::format("export '{}' is for client '{}', and with --insecure nobody proves "
                    "who they are: allow=* goes with it, or --auth FILE",
                    spec.name, spec.rules.clients().front()));
  }
}

void check_discards(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_export_name(name)) continue;
    throw UsageError(fmt::format("--discard is '{}', which no export can be called", name));
  }
}

Options make_options(const Arguments& arguments) {
  Options options;
  options.exports = parse_export_specs(arguments.exports);
  options.listen = listen_addresses(arguments);
  if (!arguments.device.empty()) options.device = arguments.device;
  check_discards(arguments.discards);
  options.discards = arguments.discards;
  options.predecessor = arguments.predecessor;
  options.state_directory = arguments.state_directory.value_or("");
  options.log_level = arguments.log_level;
  options.limits.slots = arguments.slots;
  options.limits.slot_size = static_cast<std::uint32_t>(
      parse_memory("--slot-size", arguments.slot_size, kMinSlotSize, kMaxSlotSize));
  options.slot_memory =
      parse_memory("--slot-memory", arguments.slot_memory, kMinSlotSize, std::uint64_t{1} << 50);
  arguments.limits.apply(options);
  options.io_threads = arguments.io_threads;
  options.show_paths = arguments.show_paths;
  arguments.admin.check();
  options.admin = arguments.admin;
  if (!arguments.key_file.empty()) options.key_file = arguments.key_file;
  check_authentication(arguments, options.exports);
  return options;
}

}  // namespace

HostPort parse_listen(std::string_view text) {
  constexpr std::string_view kAnyPort = ":0";
  const bool one_colon = std::count(text.begin(), text.end(), ':') == 1;
  const bool bracketed = text.size() > kAnyPort.size() && text[text.size() - 3] == ']';
  const bool any_port = text.ends_with(kAnyPort) && (one_colon || bracketed);
  if (any_port) text.remove_suffix(kAnyPort.size());
  HostPort result = parse_host_port(text);
  if (any_port) result.port = 0;
  return result;
}

std::optional<Options> parse_options(int argc, const char* const* argv) {
  Arguments arguments;
  CLI::App app("Lends memory and files of this machine to others as block images over RDMA.",
               "rdmablk-target");
  describe(app, arguments);
  refuse_empty_values(app);
  if (!read_arguments(app, argc, argv)) return std::nullopt;
  return make_options(arguments);
}

}  // namespace rdmablk::target
