#include "fd_store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "common/error.h"

namespace rdmablk::faults {
namespace {

constexpr int kFirst = 3;

/// Lines of KEY=VALUE.
std::map<std::string, std::string, std::less<>> parse(std::string_view message) {
  std::map<std::string, std::string, std::less<>> fields;
  while (!message.empty()) {
    const auto line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(message.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    fields.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return fields;
}

}  // namespace

bool FdStore::take(std::string_view message, std::vector<UniqueFd> descriptors) {
  const auto fields = parse(message);
  const auto found = fields.find("FDNAME");
  const std::string name = found == fields.end() ? "stored" : found->second;
  if (fields.contains("FDSTOREREMOVE")) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; });
  }
  if (fields.contains("FDSTORE")) {
    for (UniqueFd& fd : descriptors) {
      if (entries_.size() < most_) entries_.push_back({name, std::move(fd)});
    }
  }
  // What came with BARRIER=1 is closed by now, which is the answer to it.
  return fields.contains("READY");
}

void FdStore::pass_on() const {
  ::unsetenv("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  ::unsetenv("LISTEN_PID");
  if (entries_.empty()) return;
  const int behind = kFirst + static_cast<int>(entries_.size());
  std::vector<int> copies;
  for (const Entry& entry : entries_) {
    copies.push_back(::fcntl(entry.fd.get(), F_DUPFD_CLOEXEC, behind));
    if (copies.back() < 0) throw SystemError("pass descriptors on", errno);
  }
  std::string names;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    ::dup2(copies[i], kFirst + static_cast<int>(i));
    names += (i > 0 ? ":" : "") + entries_[i].name;
  }
  ::setenv("LISTEN_FDS", std::to_string(entries_.size()).c_str(), 1);
  ::setenv("LISTEN_FDNAMES", names.c_str(), 1);
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
}

}  // namespace rdmablk::faults
