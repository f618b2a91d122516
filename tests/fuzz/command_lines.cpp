// Whole command lines, a word a line, of the three programs: read, or refused with a UsageError.
// Nothing is run.
#include <bit>
#include <set>
#include <sstream>
#include <vector>

#include "common/error.h"
#include "common/units.h"
#include "fuse/options.h"
#include "initiator/cli/bench_options.h"
#include "initiator/cli/command_line.h"
#include "initiator/recovery_arguments.h"
#include "target/options.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

void check_connections(const cm::Settings& settings, cm::Method method) {
  require(settings.ack_timeout >= 1 && settings.ack_timeout <= 31 && settings.retries <= 7 &&
              settings.service_level.value_or(0) <= 15,
          "what the device is told fits into its fields");
  require(!settings.path_mtu || std::has_single_bit(unsigned{*settings.path_mtu}),
          "an MTU is one of InfiniBand's");
  require(method == cm::Method::tcp ||
              !(settings.pkey_index || settings.service_level || settings.path_mtu),
          "rdma_cm is told what it takes");
}

using std::chrono::hours;
using std::chrono::milliseconds;

/// The words of a command line, as main() gets them.
class Words {
 public:
  explicit Words(std::string_view text) : words_{"program"} {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) words_.push_back(line);
    for (const std::string& word : words_) pointers_.push_back(word.c_str());
    pointers_.push_back(nullptr);
  }

  int count() const noexcept { return static_cast<int>(words_.size()); }
  const char* const* pointers() const noexcept { return pointers_.data(); }

  /// A word, empty when there are fewer.
  std::string at(std::size_t number) const {
    return number < words_.size() ? words_[number] : std::string();
  }

 private:
  std::vector<std::string> words_;
  std::vector<const char*> pointers_;
};

void check_target(const Words& words) {
  const auto options = target::parse_options(words.count(), words.pointers());
  if (!options) return;
  std::set<std::string> names;
  for (const target::ExportSpec& spec : options->exports) {
    require(names.insert(spec.name).second, "exports have names of their own");
    require(options->key_file || spec.rules.clients().empty(), "rules for clients need keys");
  }
  require((options->config || !names.empty()) && !options->listen.empty(),
          "something is exported somewhere");
  const target::Limits& limits = options->limits;
  require(limits.handshake >= milliseconds(10) && limits.handshake <= hours(1),
          "a handshake takes its time");
  require(limits.keepalive.count() == 0 ||
              (limits.keepalive >= milliseconds(100) && limits.keepalive <= hours(1)),
          "an initiator has time to say something");
  require(limits.sessions > 0 && limits.client_sessions > 0 && limits.handshakes > 0 &&
              limits.session_queues > 0 && limits.client_queues > 0,
          "somebody is let in");
  require(limits.slots > 0 && limits.slot_size >= 4096 && limits.slot_size % kSectorSize == 0,
          "there are slots");
  require(options->client_slot_memory.value_or(4096) <= options->slot_memory,
          "a client takes no more than there is");
  require(options->io_threads > 0, "somebody works");
  for (const target::ListenPlace& place : options->listen) {
    check_connections(options->connections, place.method);
  }
  require(!options->predecessor || *options->predecessor > 0, "a process has a number");
}

void check_recovery(const initiator::RecoveryOptions& options) {
  const auto most = initiator::kMaxRecoveryTime;
  require(options.reconnect_delay.count() > 0 && options.reconnect_delay <= most,
          "there is a pause between two attempts");
  for (const auto& limit : {options.fail_fast, options.give_up}) {
    require(!limit || (limit->count() >= 0 && *limit <= most), "times are in range");
  }
}

void check_fuse(const Words& words) {
  const auto options = fuse::parse_command_line(words.count(), words.pointers());
  if (!options) return;
  require(options->uri.has_value() != options->null_size.has_value(), "one image is mounted");
  require(
      !options->null_size || (*options->null_size > 0 && *options->null_size % kSectorSize == 0),
      "of whole sectors");
  require(options->command || !options->mount_point.empty(), "somewhere");
  const fuse::MountOptions& mount = options->mount;
  require(!mount.client || mount.key_file, "whoever says who it is proves it");
  require(!mount.take_over || !mount.read_only, "who reads takes nothing over");
  check_recovery(mount.recovery);
  check_connections(mount.connection.settings, mount.connection.method);
}

void check_tool(const Words& words) {
  cli::CommandLine line;
  const cli::Command* const command = line.parse(words.count(), words.pointers());
  require(command == nullptr || command->chosen(), "what is run was asked for");
}

void check_bench(const Words& words) {
  cli::BenchArguments arguments;
  arguments.uri = words.at(1);
  const auto take = [&](std::size_t number, std::string& into) {
    if (auto word = words.at(number); !word.empty()) into = std::move(word);
  };
  std::size_t next = 2;
  for (std::string* const field :
       {&arguments.rw, &arguments.block_size, &arguments.depth, &arguments.queues, &arguments.time,
        &arguments.read_percent, &arguments.offset, &arguments.size, &arguments.reconnect_delay,
        &arguments.fail_fast, &arguments.give_up}) {
    take(next++, *field);
  }
  const auto options = cli::read_bench_arguments(arguments);
  require(options.block_size > 0 && options.depth > 0 && options.queues > 0, "there is work");
  require(options.buffer_bytes() / options.depth == options.block_size, "buffers can be counted");
  require(options.time.count() > 0 && options.read_percent <= 100, "numbers are in range");
  check_recovery(options.recovery);
  constexpr std::uint64_t kImage = std::uint64_t{1} << 40;
  const auto range = cli::bench_range(options, kImage);
  require(range.size >= options.block_size && range.offset < kImage &&
              range.size <= kImage - range.offset,
          "the range lies within the image");
}

void check(unsigned program, const Words& words) {
  switch (program) {
    case 0:
      return check_target(words);
    case 1:
      return check_fuse(words);
    case 2:
      return check_tool(words);
    default:
      return check_bench(words);
  }
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  const unsigned program = input.choice(4);
  try {
    rdmablk::fuzz::check(program, rdmablk::fuzz::Words(input.text()));
  } catch (const rdmablk::UsageError&) {  // and nothing else
  }
  return 0;
}
