#include "initiator/cli/bench_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "common/error.h"
#include "common/option_values.h"
#include "common/units.h"
#include "initiator/recovery_arguments.h"

namespace rdmablk::cli {
namespace {

struct WorkloadName {
  Workload workload;
  const char* name;
};

constexpr std::array<WorkloadName, 5> kWorkloads{{{Workload::read, "read"},
                                                  {Workload::write, "write"},
                                                  {Workload::randread, "randread"},
                                                  {Workload::randwrite, "randwrite"},
                                                  {Workload::randrw, "randrw"}}};

[[noreturn]] void refuse(const char* option, const std::string& value, std::string_view expected) {
  throw UsageError(fmt::format("{} takes {}, not '{}'", option, expected, value));
}

Workload read_workload(const std::string& text) {
  const auto found = std::find_if(kWorkloads.begin(), kWorkloads.end(),
                                  [&](const WorkloadName& entry) { return entry.name == text; });
  if (found == kWorkloads.end()) {
    refuse("--rw", text, "read, write, randread, randwrite or randrw");
  }
  return found->workload;
}

std::uint64_t read_size(const char* option, const std::string& text, std::uint64_t least) {
  const auto size = parse_size(text);
  if (!size || *size < least) {
    refuse(option, text,
           least == 0 ? "a size: bytes, or with K, M, G or T behind the number"
                      : "a size of at least 1: bytes, or with K, M, G or T behind the number");
  }
  return *size;
}

unsigned read_count(const char* option, const std::string& text, unsigned least, unsigned most) {
  return static_cast<unsigned>(read_number(option, text, least, most));
}

std::chrono::milliseconds read_seconds(const char* option, const std::string& text) {
  constexpr unsigned kMost = 86400;
  const auto time = parse_seconds(text, kMost);
  if (time && time->count() > 0) return *time;
  refuse(option, text, fmt::format("seconds, more than 0 and at most {}", kMost));
}

constexpr std::uint64_t kMebibyteMask = (1U << 20U) - 1;

/// Registered memory cannot be swapped out: more than half of what there is would hurt everyone.
void check_memory(const BenchOptions& options) {
  const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L));
  const auto page_size = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
  const std::uint64_t most = pages * page_size / 2;
  const std::uint64_t requests = std::uint64_t{options.queues} * options.depth;
  if (options.block_size > most / requests) {
    throw UsageError(fmt::format(
        "--bs {}, --depth {} and --queues {} need more memory than half of what this host has "
        "({}); choose less",
        options.block_size, options.depth, options.queues, format_size(most & ~kMebibyteMask)));
  }
}

}  // namespace

bool has_reads(Workload workload) noexcept {
  return workload == Workload::read || workload == Workload::randread ||
         workload == Workload::randrw;
}

bool has_writes(Workload workload) noexcept {
  return workload == Workload::write || workload == Workload::randwrite ||
         workload == Workload::randrw;
}

bool is_random(Workload workload) noexcept {
  return workload != Workload::read && workload != Workload::write;
}

const char* workload_name(Workload workload) noexcept {
  for (const WorkloadName& entry : kWorkloads) {
    if (entry.workload == workload) return entry.name;
  }
  return "unknown";
}

BenchOptions read_bench_arguments(const BenchArguments& arguments) {
  BenchOptions options;
  arguments.connection.check(cm::Spelling::command_line);
  options.connection = arguments.connection;
  options.uri = parse_uri(arguments.uri, options.connection.default_port());
  options.workload = read_workload(arguments.rw);
  options.block_size = read_size("--bs", arguments.block_size, 1);
  options.depth = read_count("--depth", arguments.depth, 1, BenchOptions::kMaxDepth);
  options.queues = read_count("--queues", arguments.queues, 1, BenchOptions::kMaxQueues);
  options.time = read_seconds("--time", arguments.time);
  options.read_percent = read_count("--rwmixread", arguments.read_percent, 0, 100);
  options.offset = read_size("--offset", arguments.offset, 0);
  if (!arguments.size.empty()) options.size = read_size("--size", arguments.size, 1);
  options.recovery.reconnect_delay =
      initiator::read_reconnect_delay("--reconnect-delay", arguments.reconnect_delay);
  options.recovery.fail_fast = initiator::read_recovery_limit("--fail-fast", arguments.fail_fast);
  options.recovery.give_up = initiator::read_recovery_limit("--give-up", arguments.give_up);
  options.take_over = arguments.take_over;
  if (options.take_over && !has_writes(options.workload)) {
    throw UsageError(
        fmt::format("--take-over is for who writes: --rw {} takes nothing over", arguments.rw));
  }
  check_memory(options);
  return options;
}

BenchRange bench_range(const BenchOptions& options, std::uint64_t image_size) {
  if (options.offset >= image_size) {
    throw UsageError(fmt::format("--offset {} lies behind the end of {}, which has {} bytes",
                                 options.offset, options.uri.text(), image_size));
  }
  const std::uint64_t rest = image_size - options.offset;
  const std::uint64_t size = options.size.value_or(rest);
  if (size > rest) {
    throw UsageError(
        fmt::format("--offset {} and --size {} reach behind the end of {}, which has "
                    "{} bytes",
                    options.offset, size, options.uri.text(), image_size));
  }
  if (options.block_size > size) {
    throw UsageError(fmt::format("--bs {} is larger than the {} bytes of {} to work on",
                                 options.block_size, size, options.uri.text()));
  }
  return {options.offset, size};
}

}  // namespace rdmablk::cli
