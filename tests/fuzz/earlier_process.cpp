// What a target finds of an earlier process: states of exports, memory and its record, and what the
// two say to each other when one takes over from the other. Taken up, or refused.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/error.h"
#include "common/export_name.h"
#include "target/line_socket.h"
#include "target/succession.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/record_file.h"

namespace rdmablk::fuzz {
namespace {

using target::ExportState;
using target::MemoryRecord;

void check_state(std::string_view text) {
  const auto state = ExportState::decode(text);
  if (!state) return;
  require(state->lease > 0 && !state->boot.empty(), "a state says when");
  const auto again = ExportState::decode(state->encode());
  require(again.has_value(), "a state that is kept can be read");
  require(again->path == state->path && again->file == state->file && again->size == state->size &&
              again->uuid == state->uuid && again->generation == state->generation &&
              again->lease == state->lease && again->boot == state->boot &&
              again->clean == state->clean && again->memory == state->memory,
          "and says the same");
  require(again->encode() == state->encode(), "in the same words");
}

void check_request(std::string_view text) {
  const auto request = target::SuccessionRequest::decode(text);
  if (!request) return;
  for (const target::ExportSpec& spec : request->exports) {
    require(is_export_name(spec.name), "an export has a name");
  }
  const std::string said = request->encode();
  const auto again = target::SuccessionRequest::decode(said);
  require(again && again->encode() == said && again->exports.size() == request->exports.size() &&
              again->discards == request->discards,
          "a request that is sent says the same");
  const std::array records{record_of("disk", 65536)};
  const bool asks = target::reason_against(*request, records).has_value();
  const bool names = std::ranges::any_of(request->exports, [](const target::ExportSpec& spec) {
    return spec.name == "disk" && spec.size == 65536;
  });
  require(asks || names || std::ranges::count(request->discards, "disk") > 0,
          "no memory is lost without a word");
}

void check_line(std::string_view text) {
  const auto line = target::PredecessorLine::decode(text);
  require(!line || static_cast<unsigned>(line->kind) <= 3, "a line is of a kind");
}

/// Memory that was taken over stays as long as it is used, and is what its record says.
void check_taken(const target::KeptMemory& kept, const target::ExportSpec& spec) {
  const MemoryRecord& record = kept.record.record();
  struct stat status {};
  require(::fstat(kept.memory.get(), &status) == 0 &&
              (::fcntl(kept.memory.get(), F_GET_SEALS) & F_SEAL_SHRINK) != 0,
          "memory cannot shrink");
  require(record.size > 0 && static_cast<std::uint64_t>(status.st_size) >= record.size,
          "there is as much memory as its record says");
  require(target::text_of(record.name) == spec.name && record.kind == spec.kind,
          "memory belongs to its export");
  require(spec.has_file() || record.size == spec.size, "and is of its size");
  require(static_cast<int>(record.is_dirty) + static_cast<int>(record.is_suspect) <= 2,
          "what is said of the file is true or false");
  require(record.lease > 0, "a lease was given");
}

/// The file of an export, and a descriptor to pass.
int a_file() {
  static const UniqueFd made(::memfd_create("file", MFD_CLOEXEC));
  return made.get();
}

void check_memory(Input& input) {
  const auto specs = target::parse_export_specs(
      {"disk=memory:64K", fmt::format("kept=file:/proc/self/fd/{},resident", a_file())});
  target::InheritedMemory inherited;
  try {
    for (unsigned left = 1 + input.choice(2); left > 0; --left) {
      const std::string name = specs[input.choice(2)].name;
      RecordFile record(input, name);
      if (!input.flag()) inherited.add(target::memory_fd_name(name), record.memory(), false);
      if (!input.flag()) inherited.add(target::record_fd_name(name), record.file(), false);
    }
    if (input.flag()) inherited.add(input.text(), UniqueFd(::dup(a_file())), false);
    inherited.check(specs);
  } catch (const Error&) {  // and nothing else
    return;
  }
  for (const target::ExportSpec& spec : specs) {
    if (const auto kept = inherited.take(spec.name)) check_taken(*kept, spec);
  }
  require(inherited.empty(), "no memory is left behind");
}

/// A descriptor that is free now, and the next time unless one is lost.
int lowest_free_descriptor() {
  return UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)).get();
}

void send(int socket, std::span<const std::byte> bytes, unsigned descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptors > 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
    std::fill_n(reinterpret_cast<int*>(CMSG_DATA(header)), descriptors, a_file());
  }
  require(::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0, "a message is sent");
}

void check_lines(Input& input) {
  constexpr std::size_t kLongest = 64;
  a_file();
  const int before = lowest_free_descriptor();
  {
    std::array<int, 2> ends{};
    require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0,
            "there are sockets");
    const UniqueFd here(ends[0]);
    UniqueFd there(ends[1]);
    for (unsigned left = input.choice(5); left > 0; --left) {
      const unsigned descriptors = input.choice(8);
      if (const auto bytes = input.bytes(input.number()); !bytes.empty()) {
        send(there.get(), bytes, descriptors);
      }
    }
    there.reset();
    while (const auto line = target::receive_line(here.get(), kLongest)) {
      require(line->text.size() <= kLongest && line->text.find('\n') == std::string::npos,
              "a line is one line");
      require(line->descriptors.size() <= 4, "with few descriptors");
    }
  }
  require(lowest_free_descriptor() == before, "no descriptor is lost");
}

void check(unsigned kind, Input& input) {
  switch (kind) {
    case 0:
      return check_state(input.text());
    case 1:
      return check_request(input.text());
    case 2:
      return check_line(input.text());
    case 3:
      return check_memory(input);
    default:
      return check_lines(input);
  }
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::check(input.choice(5), input);
  return 0;
}
