#include "target/succession.h"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/export_name.h"
#include "common/seconds.h"
#include "target/json_number.h"
#include "target/line_socket.h"

namespace rdmablk::target {
namespace {

using nlohmann::json;
using protocol::ExportKind;

constexpr std::uint64_t kVersion = 1;

json describe(const ExportSpec& spec) {
  return {{"name", spec.name},       {"kind", static_cast<int>(spec.kind)},
          {"size_bytes", spec.size}, {"huge_bytes", spec.huge_page},
          {"path", spec.path},       {"read_only", spec.read_only}};
}

ExportSpec read_spec(const json& entry) {
  ExportSpec spec;
  entry.at("name").get_to(spec.name);
  const std::uint64_t kind = number_from(entry.at("kind"));
  if (!is_export_name(spec.name) || kind < static_cast<std::uint64_t>(ExportKind::memory) ||
      kind > static_cast<std::uint64_t>(ExportKind::resident)) {
    throw std::out_of_range("export");
  }
  spec.kind = static_cast<ExportKind>(kind);
  spec.size = number_from(entry.at("size_bytes"));
  spec.huge_page = number_from(entry.at("huge_bytes"));
  entry.at("path").get_to(spec.path);
  entry.at("read_only").get_to(spec.read_only);
  return spec;
}

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Whether a socket has something to read, or has ended, before the time is over.
bool await_input(int socket, std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  pollfd input{socket, POLLIN, 0};
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const int ready = ::poll(&input, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) return ready != 0;
  }
}

/// A process that does not run takes no more than fits its socket.
void limit_sending(int socket, std::chrono::milliseconds time) {
  const timeval limit{time.count() / 1000, time.count() % 1000 * 1000};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/// An object, or null for anything else.
json parse(std::string_view text) {
  json document = json::parse(text, nullptr, false);
  return document.is_object() ? document : json();
}

UniqueFd connect_to(pid_t pid) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) throw SystemError("make a Unix socket", errno);
  const std::string name = succession_socket_name(pid);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    throw Error(fmt::format("cannot succeed process {}: {}: it is no target that serves", pid,
                            errno_text(errno)));
  }
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid != pid) {
    throw Error(fmt::format("cannot succeed process {}: another answers for it (process {})", pid,
                            peer.pid));
  }
  if (peer.uid != ::geteuid() && peer.uid != 0) {
    throw Error(fmt::format("cannot succeed process {}: it is of user {}, and this one of user {}",
                            pid, peer.uid, ::geteuid()));
  }
  return socket;
}

}  // namespace

std::string SuccessionRequest::encode() const {
  json document{{"version", kVersion}, {"exports", json::array()}, {"discards", discards}};
  for (const ExportSpec& spec : exports) document["exports"].push_back(describe(spec));
  return text_of(document);
}

std::optional<SuccessionRequest> SuccessionRequest::decode(std::string_view text) {
  try {
    const json document = json::parse(text);
    SuccessionRequest request;
    if (number_from(document.at("version")) != kVersion) return std::nullopt;
    for (const json& entry : document.at("exports")) request.exports.push_back(read_spec(entry));
    document.at("discards").get_to(request.discards);
    return request;
  } catch (const json::exception& /*error*/) {
    return std::nullopt;
  } catch (const std::out_of_range& /*error*/) {
    return std::nullopt;
  }
}

std::optional<PredecessorLine> PredecessorLine::decode(std::string_view text) {
  try {
    const json said = parse(text);
    if (said.contains("refused")) return {{Kind::refused, said["refused"].get<std::string>()}};
    if (said.value("complete", false)) return {{Kind::complete, {}}};
    if (said.value("accepted", false)) return {{Kind::accepted, {}}};
    return {{Kind::memory, said.at("memory").get<std::string>()}};
  } catch (const json::exception& /*error*/) {
    return std::nullopt;
  }
}

std::optional<std::string> reason_against(const SuccessionRequest& request,
                                          std::span<const MemoryRecord> memory) {
  for (const MemoryRecord& record : memory) {
    const std::string name = text_of(record.name);
    const auto& discards = request.discards;
    if (std::find(discards.begin(), discards.end(), name) != discards.end()) continue;
    const auto found = std::find_if(request.exports.begin(), request.exports.end(),
                                    [&](const ExportSpec& spec) { return spec.name == name; });
    const auto why = found == request.exports.end() ? std::string("there is no such export")
                                                    : difference(*found, record);
    if (why.empty()) continue;
    return fmt::format(
        "the memory of export '{}' would be lost: {}; serve it as it is, or give --discard {}",
        name, why, name);
  }
  return std::nullopt;
}

std::string succession_socket_name(pid_t target) {
  return std::string(1, '\0') + fmt::format("rdmablk-target-{}", target);
}

bool Successor::pass(std::span<const KeptMemory> memory) noexcept {
  try {
    for (const KeptMemory& one : memory) {
      const json line{{"memory", text_of(one.record.record().name)}};
      const int error =
          send_line(socket_.get(), text_of(line), {one.memory.get(), one.record.fd()});
      if (error != 0) return false;
    }
    if (send_line(socket_.get(), text_of(json{{"complete", true}})) != 0) return false;
    const auto answer = receive_line(socket_.get(), kMaxSuccessionLine);
    return answer && parse(answer->text).value("serving", false);
  } catch (const std::exception& error) {
    spdlog::error("the hand-over to process {} failed: {}", pid_, error.what());
    return false;
  }
}

Predecessor::Predecessor(pid_t pid, const SuccessionRequest& request, InheritedMemory& memory,
                         std::chrono::milliseconds patience)
    : pid_(pid), socket_(connect_to(pid)) {
  spdlog::info("asking process {} to end and to hand its memory over", pid_);
  limit_sending(socket_.get(), patience);
  const int error = send_line(socket_.get(), request.encode());
  if (error == EAGAIN || !await_input(socket_.get(), patience)) {
    throw Error(fmt::format(
        "cannot succeed process {}: it has not answered within {:g} s; is it stopped (SIGSTOP, a "
        "debugger)? It keeps its exports and its memory: try again once it runs",
        pid_, in_seconds(patience)));
  }
  // One that does not take the request may have said why.
  take(memory);
}

void Predecessor::take(InheritedMemory& memory) {
  while (true) {
    while (!await_input(socket_.get(), kSuccessionPatience)) {
      spdlog::warn("still waiting for process {}, which ends its sessions and hands over", pid_);
    }
    auto line = receive_line(socket_.get(), kMaxSuccessionLine);
    if (!line) {
      throw Error(fmt::format(
          "cannot succeed process {}: it has ended, or serves another successor", pid_));
    }
    const auto said = PredecessorLine::decode(line->text);
    using Kind = PredecessorLine::Kind;
    if (!said || (said->kind == Kind::memory) != (line->descriptors.size() == 2)) {
      throw Error(fmt::format("cannot succeed process {}: it speaks another version", pid_));
    }
    switch (said->kind) {
      case Kind::refused:
        throw Error(
            fmt::format("cannot succeed process {}, which goes on serving: {}", pid_, said->text));
      case Kind::complete:
        return;
      case Kind::accepted:
        spdlog::info("process {} ends its sessions, and hands over", pid_);
        break;
      case Kind::memory:
        memory.add(memory_fd_name(said->text), std::move(line->descriptors[0]), false);
        memory.add(record_fd_name(said->text), std::move(line->descriptors[1]), false);
    }
  }
}

void Predecessor::confirm() noexcept {
  send_line(socket_.get(), R"({"serving":true})");
  socket_.reset();
}

}  // namespace rdmablk::target
