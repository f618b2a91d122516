#include "fuse/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <vector>

#include "common/arguments.h"
#include "common/error.h"
#include "common/option_values.h"
#include "common/units.h"

namespace rdmablk::fuse {

namespace {

constexpr const char* kFooter =
    "With --null there is no URI: the mount shows SIZE bytes of this process's own memory, to see "
    "what\nFUSE alone costs.\n\n"
    "Mount options: ro, rw, allow_other, uid=N, gid=N, mode=OCTAL (of the image's file), "
    "fsname=TEXT,\nworkers=N, queue_depth=N, spin=US, slow=MS, reconnect_delay=S, "
    "fail_fast=S, give_up=S, take_over, keyfile=FILE,\nclient=NAME, metrics=[ADDR:]PORT, "
    "mask_features=LIST; and how to connect: cm=rdmacm|tcp, path=HOST[:PORT],\ndevice=NAME, "
    "gid_index=N, pkey_index=N, service_level=N, traffic_class=N, path_mtu=BYTES, ack_timeout=N, "
    "retries=N. "
    "Those of mount(8)\nsuch as _netdev and noauto are accepted.\n\n"
    "The key in keyfile=, made by `rdmablk keygen`, proves to the target who this is, and that it "
    "is the\ntarget. client= is who this is; default: the name in the key file, or else this "
    "host's "
    "without\nits domain. The file is read again at each reconnection.\n\n"
    "While the target cannot be reached, reads and writes wait; `rdmablk timeouts MOUNTPOINT` "
    "shows how\nit is going, and changes the three times. They count from the loss.\n\n"
    "The log goes to standard error until the mount works, and from then on to syslog, under the "
    "name\nrdmablk-fuse (journalctl -t rdmablk-fuse); with --foreground, to standard error.\n\n"
    "Under the name mount.rdmablk it is what mount(8) runs for `mount -t rdmablk`, and for lines "
    "of\nfstab. A mount of root's is for all users: the mode of the image's file says who may.";

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: rdmablk-fuse [OPTIONS] rdmablk://HOST[:PORT]/EXPORT MOUNTPOINT\n"
           "       rdmablk-fuse [OPTIONS] --null SIZE MOUNTPOINT\n"
           "       rdmablk-fuse [OPTIONS] --run COMMAND rdmablk://HOST[:PORT]/EXPORT "
           "[MOUNTPOINT]\n";
  }
};

/// Command line words that are worked on after all are read.
struct Words {
  std::vector<std::string> positional;
  std::vector<std::string> mount_options;
  std::string null_size;
  std::string workers;
  std::string queue_depth;
  std::string spin;
  std::string slow;
  std::string metrics;
  std::string reconnect_delay;
  std::string fail_fast;
  std::string give_up;
  std::vector<std::pair<std::string, std::string>> connection;  ///< names and values
  std::string masked_features;
  std::string command;
  std::string pidfile;
  bool take_over = false;
  bool is_sloppy = false;
};

std::uint64_t image_size(const std::string& text) {
  const auto size = parse_size(text);
  if (!size || *size == 0 || *size % kSectorSize != 0) {
    throw UsageError(
        fmt::format("--null {}: the size is a number of bytes, with K, M, G or T behind it if you "
                    "like; not zero, and a multiple of {}",
                    text, kSectorSize));
  }
  return *size;
}

/// Each is a mount option, too, and wins over it.
void describe_connection(CLI::App& app, Words& words) {
  initiator::describe_connection(app, [&words](std::string_view name, const std::string& value) {
    initiator::ConnectionOptions().set(name, cm::Spelling::command_line, value);
    words.connection.emplace_back(name, value);
  });
}

void set_up(CLI::App& app, Options& options, Words& words) {
  app.name("rdmablk-fuse");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kFooter);
  app.set_version_flag("--version", "rdmablk-fuse " RDMABLK_VERSION);
  app.add_flag("-f,--foreground", options.foreground, "stay in the foreground");
  app.add_flag("-q,--quiet", options.quiet, "do not tell what to do with the mount");
  app.add_option("--null", words.null_size, "mount so much local memory, without RDMA");
  app.add_option("--workers", words.workers, "threads that serve the mount (cores, at most 4)");
  app.add_option("--queue-depth", words.queue_depth, "requests that each works on at once (32)");
  app.add_option("--spin", words.spin,
                 "microseconds that each looks for more before it sleeps, at most; less "
                 "when that does not pay (50; 0 on one core)");
  app.add_option("--slow", words.slow,
                 "milliseconds after which a request is logged, and where it waited (1000; 0: "
                 "never)");
  app.add_option("--metrics", words.metrics,
                 "[ADDR:]PORT where Prometheus, and a browser, may read how the mount is doing; "
                 "loopback without ADDR")
      ->type_name("TEXT");
  app.add_option("--reconnect-delay", words.reconnect_delay,
                 "seconds between two attempts to reconnect, at most (2)");
  app.add_option("--fail-fast", words.fail_fast,
                 "seconds after which requests no longer wait but fail, while the attempts go on "
                 "(never)");
  app.add_option(
      "--give-up", words.give_up,
      "seconds after which there are no more attempts, and requests fail for good (600)");
  app.add_flag("--take-over", words.take_over,
               "take the export from the initiator that has it mounted for writing");
  app.add_option("--mask-features", words.masked_features,
                 "do as an initiator that does not know these features of the protocol: numbers "
                 "such as 0x1, names (" +
                     protocol::kKnownFeatures.text() + "), or all")
      ->type_name("MASK|NAME,...")
      ->group("For experts");
  app.add_option("--pidfile", words.pidfile,
                 "write the number of the process that serves the mount to this file when it "
                 "works, and remove the file at the end")
      ->type_name("FILE");
  app.add_option("--run", words.command,
                 "stay in the foreground and mount as long as this runs, a command line of sh(1); "
                 "end with its status. It has $image, the image's file, $mountpoint and $uri. "
                 "Without MOUNTPOINT one is made")
      ->type_name("COMMAND");
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning or error");
  app.add_flag("--or-read-only", options.or_read_only,
               "mount read-only, unasked, what may not be written");
  app.add_flag("--sloppy", words.is_sloppy, "leave out mount options that are unknown here");
  app.add_flag("--fake", options.is_fake, "check the command line and the key file, nothing else");
  app.add_flag("--for-mount", options.for_mount,
               "the exit statuses of mount(8): 1 usage, 2 system, 32 failed");
  describe_connection(app, words);
  refuse_empty_values(app);
  // A list may be empty.
  app.add_option("-o", words.mount_options, "mount options, separated by commas")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("WORDS", words.positional, "what to mount, and where")->group("");
}

void take(Options& options, const Words& words) {
  options.mount.is_sloppy = words.is_sloppy;
  for (const std::string& text : words.mount_options) options.mount.parse(text);
  if (!words.workers.empty()) options.mount.set("workers", words.workers);
  if (!words.queue_depth.empty()) options.mount.set("queue_depth", words.queue_depth);
  if (!words.spin.empty()) options.mount.set("spin", words.spin);
  if (!words.slow.empty()) options.mount.set("slow", words.slow);
  if (!words.metrics.empty()) options.mount.set("metrics", words.metrics);
  if (!words.reconnect_delay.empty()) options.mount.set("reconnect_delay", words.reconnect_delay);
  if (!words.fail_fast.empty()) options.mount.set("fail_fast", words.fail_fast);
  if (!words.give_up.empty()) options.mount.set("give_up", words.give_up);
  for (const auto& [name, value] : words.connection) options.mount.set(name, value);
  if (!words.masked_features.empty()) options.mount.set("mask_features", words.masked_features);
  options.mount.take_over |= words.take_over;
  if (options.mount.take_over && options.mount.read_only) {
    throw UsageError("take_over and ro contradict each other: who only reads takes nothing over");
  }
  if (options.mount.client && !options.mount.key_file) {
    throw UsageError("option client= says who this is; it needs keyfile=, which proves it");
  }
  options.mount.connection.check(cm::Spelling::mount_option);
  const std::size_t expected = words.null_size.empty() ? 2 : 1;
  const bool makes_mount_point = !words.command.empty() && words.positional.size() + 1 == expected;
  if (words.positional.size() != expected && !makes_mount_point) {
    throw UsageError(words.null_size.empty()
                         ? "it takes a URI and a mount point: rdmablk-fuse "
                           "rdmablk://HOST[:PORT]/EXPORT MOUNTPOINT"
                         : "with --null it takes a mount point alone: rdmablk-fuse --null SIZE "
                           "MOUNTPOINT");
  }
  if (words.null_size.empty()) {
    options.uri = parse_uri(words.positional.front(), options.mount.connection.default_port());
  } else {
    options.null_size = image_size(words.null_size);
  }
  if (!words.command.empty()) options.command = words.command;
  if (!words.pidfile.empty()) options.pidfile = std::filesystem::absolute(words.pidfile).string();
  if (makes_mount_point) return;
  options.mount_point = words.positional.back();
  if (options.mount_point.empty()) throw UsageError("the mount point is empty");
}

}  // namespace

std::string Options::source() const {
  return uri ? uri->text() : "null";
}

std::string Options::image_name() const {
  return uri ? uri->export_name : "null";
}

WorkerPlan Options::plan() const {
  WorkerPlan plan;
  plan.workers = mount.workers.value_or(default_workers());
  plan.depth = mount.queue_depth.value_or(plan.depth);
  return plan;
}

std::optional<Options> parse_command_line(int argc, const char* const* argv) {
  Options options;
  Words words;
  CLI::App app("Mounts an image that another machine lends, over RDMA, as one file.");
  set_up(app, options, words);
  if (!read_arguments(app, argc, argv)) return std::nullopt;
  take(options, words);
  return options;
}

}  // namespace rdmablk::fuse
