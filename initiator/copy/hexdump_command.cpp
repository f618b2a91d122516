#include "initiator/copy/hexdump_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "common/error.h"
#include "initiator/cli/session_watch.h"
#include "initiator/copy/hex_dump.h"
#include "initiator/lone_request.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::copy {
namespace {

/// Bytes that are read at a time.
constexpr std::uint64_t kBlock = 64U << 10U;

/// Reads an image from one thread, a request at a time.
class Reader {
 public:
  /// Throws Error.
  explicit Reader(initiator::Image& image)
      : buffers_(image.make_buffers(kBlock)), queue_(image.make_queue(1)) {}

  /// @param length bytes, at most kBlock. Throws SystemError.
  /// @return what was read; valid until the next call.
  std::span<const std::byte> read(const std::string& name, std::uint64_t offset,
                                  std::uint64_t length) {
    initiator::Request request;
    request.offset = offset;
    request.length = length;
    request.data = buffers_->bytes().data();
    request.keys = buffers_->keys();
    initiator::perform(*queue_, request);
    if (request.error != 0) {
      throw SystemError(fmt::format("read {} bytes at offset {} of {}", length, offset, name),
                        request.error);
    }
    return buffers_->bytes().first(length);
  }

 private:
  std::unique_ptr<initiator::RequestBuffers> buffers_;
  std::unique_ptr<initiator::Queue> queue_;
};

initiator::AttachOptions attach_options() {
  initiator::AttachOptions options;
  options.access = protocol::Access::read_only;
  options.depth = 1;
  options.max_io = kBlock;
  return options;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  throw SystemError("write to standard output", errno);
}

}  // namespace

HexdumpCommand::HexdumpCommand(CLI::App& parent)
    : Command(parent, "hexdump", "print the bytes of an export") {
  arguments().add_option("URI", uri_, "rdmablk://HOST[:PORT]/EXPORT")->type_name("")->required();
  range_.add_to(arguments());
  arguments().add_flag("--all-lines", all_lines_, "print lines that repeat the one before, too");
  add_timeout_option();
  add_credential_options();
  add_connection_options();
  add_log_level_option();
  arguments().footer(
      "Prints as `hexdump -C` does. --timeout is how long the target may take to answer.\n"
      "\n"
      "Examples:\n"
      "  rdmablk hexdump rdmablk://storage1/scratch --length 512\n"
      "  rdmablk hexdump rdmablk://storage1/scratch --offset 1M | less");
}

int HexdumpCommand::run() {
  const Uri uri = read_uri(uri_);
  range_.check();
  start_log();
  const auto session = initiator::Session::connect(
      uri.target, cli::tool_options(timeout(), connection(), credentials()));
  const auto image = session->attach(uri.export_name, attach_options());
  auto [offset, length] = range_.within(uri.text(), image->info().size);
  Reader reader(*image);
  const cli::SessionWatch watch(*session);
  HexDump dump(offset, !all_lines_);
  while (length > 0) {
    const std::uint64_t count = std::min(length, kBlock);
    print(dump.add(reader.read(uri.text(), offset, count)));
    offset += count;
    length -= count;
  }
  print(dump.finish());
  return kExitDone;
}

}  // namespace rdmablk::copy
