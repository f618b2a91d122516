#include "initiator/cli/keygen_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>

#include "common/auth/key.h"
#include "common/auth/secret_file.h"
#include "common/error.h"
#include "common/export_name.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kKeygenFooter =
    "The file is made for its owner alone (mode 0600), and one that is there is never "
    "overwritten.\n"
    "The client has it as its --keyfile (or keyfile= of a mount). The target's --auth FILE holds "
    "the\n"
    "lines of all its clients; two lines of one client are two keys that are both good, so that a "
    "key\n"
    "can be exchanged without a pause. After a change of that file: kill -HUP the target.\n"
    "\n"
    "Examples:\n"
    "  rdmablk keygen alice --output alice.key\n"
    "  (umask 077; cat alice.key >> /etc/rdmablk/clients)   # on the target";

/// "[CLIENT ]KEY\n"
auth::SecretText line_of(const std::string& client) {
  const auth::Key key = auth::Key::generate();
  const auth::SecretText text = key.text();
  const std::string name = client.empty() ? "" : client + " ";
  auth::SecretText line(name.size() + text.view().size() + 1);
  auto next = std::copy(name.begin(), name.end(), line.buffer().begin());
  next = std::copy(text.view().begin(), text.view().end(), next);
  *next = '\n';
  return line;
}

/// Past the stream, whose buffer would keep the secret.
void print_text(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw SystemError("write to standard output", errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

KeygenCommand::KeygenCommand(CLI::App& parent)
    : Command(parent, "keygen", "make a key for a client and its target") {
  arguments()
      .add_option("CLIENT", client_name_, "whose key it is; the file says so then")
      ->type_name("");
  arguments()
      .add_option("--output", output_, "the file to make; default: standard output")
      ->type_name("FILE");
  arguments().footer(kKeygenFooter);
}

int KeygenCommand::run() {
  if (!client_name_.empty() && !is_export_name(client_name_)) {
    throw UsageError(
        fmt::format("'{}' is not a client's name: up to {} letters, digits, '.', '_' and '-', the "
                    "first a letter or digit",
                    client_name_, kMaxExportName));
  }
  const auth::SecretText line = line_of(client_name_);
  if (output_.empty()) {
    print_text(line.view());
  } else {
    auth::create_secret_file(output_, line.view());
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
