#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "common/protocol/use_report.h"

namespace rdmablk::target {

/// What initiators say that they have done, by export and client: they may say anything, so the
/// numbers stop at the largest there is, and there is a limit to how many clients are told apart.
/// Control thread.
class ClientReports {
 public:
  /// An export and the proved name of a client; "" without authentication.
  using Key = std::pair<std::string, std::string>;

  /// How many are told apart. What comes then is kept for all the others of its export, whose
  /// client is kOthers, which no client is called; with too many exports it is dropped.
  static constexpr std::size_t kMaxEntries = 1024;
  static constexpr const char* kOthers = "(others)";

  /// @param use what has come since the last time.
  void add(const std::string& export_name, const std::string& client, const protocol::Use& use);

  /// Forgets what is about exports that are gone.
  void keep_if(const std::function<bool(const std::string& export_name)>& is_there);

  /// Of all clients of an export together.
  protocol::Use of_export(const std::string& name) const;

  const std::map<Key, protocol::Use>& all() const noexcept { return all_; }

 private:
  std::map<Key, protocol::Use> all_;
};

}  // namespace rdmablk::target
