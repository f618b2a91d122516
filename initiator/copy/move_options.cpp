#include "initiator/copy/move_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/option_values.h"
#include "common/units.h"
#include "initiator/copy/compare_worker.h"
#include "initiator/copy/range_options.h"
#include "initiator/recovery_arguments.h"

namespace rdmablk::copy {
namespace {

/// What all requests together may take, in bytes: it is pinned, and once more for a second device.
constexpr std::uint64_t kMaxMemory = std::uint64_t{4} << 30U;

void check_memory(const TransferOptions& options) {
  if (options.block_size <= kMaxMemory / (std::uint64_t{options.depth} * options.queues)) return;
  throw UsageError(fmt::format(
      "--queues {}, --depth {} and --block-size {} take more than {} of memory; choose less",
      options.queues, options.depth, options.block_size, format_size(kMaxMemory)));
}

}  // namespace

void MoveOptions::add_to(CLI::App& arguments) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* text) {
    arguments.add_option(name, value, text)->type_name(type)->capture_default_str();
  };
  add("--queues", queues_, "N", "queues to each target, each with a connection and thread");
  add("--depth", depth_, "N", "blocks under way on each queue");
  add("--block-size", block_size_, "SIZE", "bytes that are moved at a time, 512 to 64M");
  add("--reconnect-delay", reconnect_delay_, "SECONDS",
      "between two attempts to reconnect to a lost target, at most");
  add("--fail-fast", fail_fast_, "SECONDS", "after so long without the target, fail; or never");
  add("--give-up", give_up_, "SECONDS",
      "after so long without the target, there are no more attempts; or never");
  arguments.add_flag("--take-over", take_over_, "take the export from the initiator that has it");
  arguments.add_flag("--verify", verify_, "read again what was written, and compare");
  arguments.add_flag("--quiet", quiet_, "print neither progress nor a summary");
}

TransferOptions MoveOptions::transfer() const {
  TransferOptions options;
  options.queues =
      static_cast<unsigned>(read_number("--queues", queues_, 1, TransferOptions::kMaxQueues));
  options.depth =
      static_cast<unsigned>(read_number("--depth", depth_, 1, TransferOptions::kMaxDepth));
  options.block_size = read_size("--block-size", block_size_);
  if (options.block_size < kSectorSize || options.block_size > TransferOptions::kMaxBlockSize) {
    throw UsageError(fmt::format("--block-size takes {} bytes to {}, not '{}'", kSectorSize,
                                 format_size(TransferOptions::kMaxBlockSize), block_size_));
  }
  check_memory(options);
  options.verify = verify_;
  options.shows_progress = !quiet_;
  return options;
}

RemoteOptions MoveOptions::remote(protocol::Access access,
                                  const initiator::ConnectionOptions& connection,
                                  std::optional<initiator::Credentials> credentials) const {
  const TransferOptions transfer = this->transfer();
  RemoteOptions options;
  connection.apply_to(options.session);
  auto& recovery = options.session.recovery;
  recovery.reconnect_delay = initiator::read_reconnect_delay("--reconnect-delay", reconnect_delay_);
  recovery.fail_fast = initiator::read_recovery_limit("--fail-fast", fail_fast_);
  recovery.give_up = initiator::read_recovery_limit("--give-up", give_up_);
  options.session.credentials = std::move(credentials);
  options.attach.access = access;
  // Who reads asks for a map, too.
  options.attach.queues = transfer.queues + (access == protocol::Access::read_only ? 1 : 0);
  options.attach.depth = queue_depth(transfer.depth, transfer.block_size);
  options.attach.max_io = static_cast<std::uint32_t>(transfer.block_size);
  options.attach.take_over = take_over_ && access == protocol::Access::read_write;
  return options;
}

}  // namespace rdmablk::copy
