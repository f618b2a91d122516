#include "initiator/copy/fill_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

#include "common/error.h"
#include "common/option_values.h"
#include "initiator/cli/json.h"
#include "initiator/copy/transfer_report.h"

namespace rdmablk::copy {
namespace {

/// Moves so many bytes of the source to a part of the destination.
TransferResult transfer(Endpoint& source, Endpoint& destination, const ExportRange& range,
                        const TransferOptions& options, bool zeroes, bool discards) {
  Transfer transfer(source, destination, {0, range.offset, range.length}, options);
  if (zeroes) transfer.only_zero(discards);
  return transfer.run();
}

void report(bool wants_json, bool is_quiet, const char* done, const Endpoint& destination,
            const ExportRange& range, const TransferResult& result) {
  if (wants_json) {
    cli::Json document = cli::new_document();
    document["uri"] = destination.name();
    document["offset_bytes"] = range.offset;
    add_transfer(document, result);
    cli::print_json(document);
  } else if (!is_quiet) {
    fmt::print("{}", transfer_text(done, result));
  }
}

}  // namespace

FillCommand::FillCommand(CLI::App& parent)
    : Command(parent, "fill", "write a pattern to an export") {
  arguments().add_option("URI", uri_, "rdmablk://HOST[:PORT]/EXPORT")->type_name("")->required();
  auto* pattern = arguments()
                      .add_option("--pattern", pattern_, "bytes, repeated over and over")
                      ->type_name("HEX");
  auto* random = arguments().add_flag("--random", random_, "bytes that look random");
  random->excludes(pattern);
  arguments()
      .add_option("--seed", seed_, "of --random: the same number gives the same bytes")
      ->type_name("N")
      ->capture_default_str()
      ->needs(random);
  range_.add_to(arguments());
  move_.add_to(arguments());
  add_json_option();
  add_credential_options();
  add_connection_options();
  add_log_level_option();
  arguments().footer(
      "OVERWRITES without asking. The pattern begins at --offset.\n"
      "\n"
      "Examples:\n"
      "  rdmablk fill rdmablk://storage1/scratch --pattern deadbeef --length 1G\n"
      "  rdmablk fill rdmablk://storage1/scratch --random --seed 7 --verify");
}

Pattern FillCommand::pattern() const {
  if (random_) {
    return Pattern::random(
        read_number("--seed", seed_, 0, std::numeric_limits<std::uint64_t>::max()));
  }
  if (pattern_.empty()) throw UsageError("what to fill it with? Give --pattern HEX or --random");
  return Pattern::of(read_hex("--pattern", pattern_));
}

int FillCommand::run() {
  const Uri uri = read_uri(uri_);
  TransferOptions options = move_.transfer();
  options.doing = "filling";
  options.sparse_unit.reset();
  const Pattern wanted = pattern();
  range_.check();
  start_log();
  auto destination = Endpoint::remote(
      uri, move_.remote(protocol::Access::read_write, connection(), credentials()));
  const ExportRange range = range_.within(destination.name(), destination.size());
  auto source = Endpoint::generated(wanted, range.length);
  const auto result = transfer(source, destination, range, options, false, false);
  report(wants_json(), move_.is_quiet(), "filled", destination, range, result);
  return kExitDone;
}

ZeroCommand::ZeroCommand(CLI::App& parent) : Command(parent, "zero", "zero an export") {
  arguments().add_option("URI", uri_, "rdmablk://HOST[:PORT]/EXPORT")->type_name("")->required();
  arguments().add_flag(
      "--discard", discard_,
      "give the space of a file back, where it can (`rdmablk info --can discard`)");
  range_.add_to(arguments());
  move_.add_to(arguments());
  add_json_option();
  add_credential_options();
  add_connection_options();
  add_log_level_option();
  arguments().footer(
      "OVERWRITES without asking.\n"
      "\n"
      "Examples:\n"
      "  rdmablk zero rdmablk://storage1/scratch\n"
      "  rdmablk zero rdmablk://storage1/scratch --offset 1G --length 64M --discard");
}

int ZeroCommand::run() {
  const Uri uri = read_uri(uri_);
  TransferOptions options = move_.transfer();
  options.doing = "zeroing";
  range_.check();
  start_log();
  auto destination = Endpoint::remote(
      uri, move_.remote(protocol::Access::read_write, connection(), credentials()));
  const ExportRange range = range_.within(destination.name(), destination.size());
  auto source = Endpoint::generated(Pattern::of({std::byte{0}}), range.length);
  const auto result = transfer(source, destination, range, options, true, discard_);
  report(wants_json(), move_.is_quiet(), kZeroed, destination, range, result);
  return kExitDone;
}

}  // namespace rdmablk::copy
