#include "initiator/copy/copy_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <utility>

#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/json.h"
#include "initiator/copy/range_options.h"
#include "initiator/copy/transfer_report.h"

namespace rdmablk::copy {
namespace {

constexpr const char* kFooter =
    "SRC and DST are each a URI (rdmablk://HOST[:PORT]/EXPORT), a file, a block device, or '-' "
    "for\n"
    "standard input or output.\n"
    "\n"
    "DST is OVERWRITTEN without asking. A file is made, or emptied first, and gets the size of "
    "SRC.\n"
    "An export or block device keeps its size: it has to be as large as SRC, and what lies behind\n"
    "the end of SRC stays as it was. When this returns, everything is on stable storage.\n"
    "\n"
    "What reads as zeroes in SRC takes no space in DST, where DST can do that. --verify reads "
    "both\n"
    "ends again. Ctrl-C ends a copy early, with exit status 1.\n"
    "\n"
    "Examples:\n"
    "  rdmablk copy disk.img rdmablk://storage1/disk --verify\n"
    "  rdmablk copy rdmablk://storage1/disk rdmablk://storage2/disk\n"
    "  rdmablk copy rdmablk://storage1/disk - | zstd > disk.zst\n"
    "  zstd -dc disk.zst | rdmablk copy - rdmablk://storage1/disk";

constexpr std::uint64_t kMaxUnit = std::uint64_t{1} << 30U;

void check_fits(const Endpoint& source, const Endpoint& destination) {
  if (source.is_stream() || !destination.has_fixed_size()) return;
  if (source.size() > destination.size()) {
    throw Error(
        fmt::format("cannot copy {} to {}: it has {} bytes, and there is room for {}; "
                    "nothing was written",
                    source.name(), destination.name(), source.size(), destination.size()));
  }
  if (source.size() == destination.size()) return;
  print_error("rdmablk",
              fmt::format("note: {} is larger than {}: its last {} bytes stay as they are",
                          destination.name(), source.name(), destination.size() - source.size()));
}

bool are_the_same(const Endpoint& source, const Endpoint& destination) {
  if (source.disk() != nullptr && destination.disk() != nullptr) {
    return source.disk()->is_same_as(*destination.disk());
  }
  return source.remote() != nullptr && destination.remote() != nullptr &&
         source.remote()->attachment().info.uuid == destination.remote()->attachment().info.uuid;
}

void check_differ(const Endpoint& source, const Endpoint& destination) {
  if (!are_the_same(source, destination)) return;
  throw Error(
      fmt::format("cannot copy {} to {}: they are the same", source.name(), destination.name()));
}

}  // namespace

CopyCommand::CopyCommand(CLI::App& parent)
    : Command(parent, "copy", "copy between exports, files and pipes") {
  arguments().add_option("SRC", source_, "what to read")->type_name("")->required();
  arguments().add_option("DST", destination_, "what to write")->type_name("")->required();
  auto* sparse =
      arguments()
          .add_option("--sparse", sparse_, "zeroes of at least so many bytes become holes")
          ->type_name("SIZE")
          ->capture_default_str();
  arguments()
      .add_flag("--no-sparse", no_sparse_, "read and write every byte, whatever it is")
      ->excludes(sparse);
  move_.add_to(arguments());
  add_json_option();
  add_credential_options();
  arguments()
      .add_option("--source-keyfile", source_key_file_, "the key for SRC; default: as for DST")
      ->type_name("FILE");
  arguments()
      .add_option("--source-client", source_client_, "who this is to SRC; default: as for DST")
      ->type_name("NAME");
  add_connection_options();
  add_log_level_option();
  arguments().footer(kFooter);
}

TransferOptions CopyCommand::options() const {
  TransferOptions options = move_.transfer();
  const std::uint64_t unit = read_size("--sparse", sparse_);
  if (unit == 0 || unit > kMaxUnit) {
    throw UsageError(fmt::format("--sparse takes 1 byte to 1 GiB, not '{}'", sparse_));
  }
  options.sparse_unit = unit;
  if (no_sparse_) options.sparse_unit.reset();
  const bool has_stream = source_ == "-" || destination_ == "-";
  if (has_stream && options.verify) {
    throw UsageError("--verify reads both ends again, which '-' cannot be");
  }
  if (destination_ == "-" && wants_json()) {
    throw UsageError("--json prints on standard output, where DST '-' is to go");
  }
  if (source_ == destination_ && source_ != "-") {
    throw UsageError(fmt::format("SRC and DST are both '{}'", source_));
  }
  return options;
}

std::optional<initiator::Credentials> CopyCommand::source_credentials() const {
  if (!source_key_file_.empty()) return initiator::Credentials(source_key_file_, source_client_);
  if (source_client_.empty()) return credentials();
  throw UsageError("--source-client says who this is; it needs --source-keyfile, which proves it");
}

Endpoint CopyCommand::open_source() const {
  switch (kind_of(source_)) {
    case EndpointKind::stream:
      return Endpoint::standard_input();
    case EndpointKind::disk:
      return Endpoint::source_file(source_);
    case EndpointKind::remote:
      break;
  }
  return Endpoint::remote(read_uri(source_), move_.remote(protocol::Access::read_only, connection(),
                                                          source_credentials()));
}

Endpoint CopyCommand::open_destination() const {
  switch (kind_of(destination_)) {
    case EndpointKind::stream:
      return Endpoint::standard_output();
    case EndpointKind::disk:
      return Endpoint::destination_file(destination_);
    case EndpointKind::remote:
      break;
  }
  return Endpoint::remote(read_uri(destination_),
                          move_.remote(protocol::Access::read_write, connection(), credentials()));
}

int CopyCommand::run() {
  const TransferOptions wanted = options();
  kind_of(source_);
  kind_of(destination_);
  connection();
  start_log();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error that names the offset
  Endpoint source = open_source();
  Endpoint destination = open_destination();
  check_differ(source, destination);
  check_fits(source, destination);
  TransferRange range;
  range.length = source.is_stream() ? CopyPlan::kUnknown : source.size();
  Transfer transfer(source, destination, range, wanted);
  report(source, destination, transfer.run());
  return kExitDone;
}

void CopyCommand::report(const Endpoint& source, const Endpoint& destination,
                         const TransferResult& result) const {
  if (wants_json()) {
    cli::Json document = cli::new_document();
    document["source"] = source.name();
    document["destination"] = destination.name();
    add_transfer(document, result);
    cli::print_json(document);
  } else if (!move_.is_quiet() && !destination.is_stream()) {
    fmt::print("{}", transfer_text("copied", result));
  }
}

}  // namespace rdmablk::copy
