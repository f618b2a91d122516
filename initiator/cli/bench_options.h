#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "common/uri.h"
#include "initiator/connection_options.h"
#include "initiator/recovery_options.h"

namespace rdmablk::cli {

/// What a benchmark does to the image.
enum class Workload { read, write, randread, randwrite, randrw };

bool has_reads(Workload workload) noexcept;
bool has_writes(Workload workload) noexcept;
bool is_random(Workload workload) noexcept;
const char* workload_name(Workload workload) noexcept;

/// The arguments of `rdmablk bench` as they were typed.
struct BenchArguments {
  std::string uri;
  std::string rw = "randread";
  std::string block_size = "4k";
  std::string depth = "32";
  std::string queues = "1";
  std::string time = "5";
  std::string read_percent = "70";
  std::string offset = "0";
  std::string size;  ///< empty: to the end
  std::string reconnect_delay = "2";
  std::string fail_fast = "never";
  std::string give_up = "5";
  bool take_over = false;
  initiator::ConnectionOptions connection;
};

/// What a benchmark is to do.
struct BenchOptions {
  static constexpr unsigned kMaxDepth = 4096;
  static constexpr unsigned kMaxQueues = 64;

  Uri uri;
  Workload workload = Workload::randread;
  std::uint64_t block_size = 0;  ///< bytes, at least 1
  unsigned depth = 0;            ///< requests in flight on each queue, 1 to kMaxDepth
  unsigned queues = 0;           ///< 1 to kMaxQueues
  std::chrono::milliseconds time{};
  unsigned read_percent = 0;          ///< of the requests of randrw, 0 to 100
  std::uint64_t offset = 0;           ///< bytes: where the range begins
  std::optional<std::uint64_t> size;  ///< bytes of the range; to the end of the export without it
  initiator::RecoveryOptions recovery;
  initiator::ConnectionOptions connection;
  bool take_over = false;  ///< the right to write, from who has it

  /// The bytes of memory that each queue's requests need.
  std::uint64_t buffer_bytes() const noexcept { return block_size * depth; }
};

/// Reads the arguments. Throws UsageError with one line that names the argument, its value and what
/// it takes.
BenchOptions read_bench_arguments(const BenchArguments& arguments);

/// The part of an export that a benchmark works on.
struct BenchRange {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t size = 0;    ///< bytes, at least one block
};

/// Fits the options to an export of `image_size` bytes. Throws UsageError when they do not.
BenchRange bench_range(const BenchOptions& options, std::uint64_t image_size);

}  // namespace rdmablk::cli
