#include "initiator/credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <utility>

#include "common/auth/key_file.h"
#include "common/error.h"
#include "common/export_name.h"
#include "common/thread_log.h"

namespace rdmablk::initiator {
namespace {

/// Its name without the domain. Throws Error.
std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    throw SystemError("find out the name of this host", errno);
  }
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return error ? path : whole.string();
}

}  // namespace

Credentials::Credentials(const std::string& key_file, std::string client)
    : key_file_(absolute(key_file)), client_(std::move(client)), key_(read()) {}

/// The name that is used first stays.
auth::Key Credentials::read() {
  const auto keys = auth::read_key_file(key_file_);
  if (keys.size() != 1) {
    throw Error(
        fmt::format("cannot use the key file {}: it holds {} keys, and a client's holds one (that "
                    "with the keys of all clients is for the target's --auth)",
                    key_file_, keys.size()));
  }
  const std::string& named = keys.front().client;
  if (client_.empty()) client_ = named.empty() ? host_name() : named;
  if (!is_export_name(client_)) {
    throw Error(
        fmt::format("'{}' is not a client's name: up to {} letters, digits, '.', '_' and "
                    "'-', the first a letter or digit",
                    client_, kMaxExportName));
  }
  if (!named.empty() && named != client_) {
    throw Error(
        fmt::format("cannot use the key file {}: its key is that of client '{}', not '{}'; leave "
                    "the name out, or give the key file of '{}'",
                    key_file_, named, client_, client_));
  }
  return keys.front().key;
}

void Credentials::refresh() {
  try {
    key_ = read();
    complaint_.clear();
  } catch (const Error& error) {
    if (complaint_ == error.what()) return;
    complaint_ = error.what();
    thread_log().warn("{}; going on with the key that was there before", complaint_);
  }
}

}  // namespace rdmablk::initiator
