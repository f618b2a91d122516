#pragma once

#include <chrono>
#include <string>

#include "common/unique_fd.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// Asks the target on this machine, over its administration socket: a JSON object a line.
class AdminClient {
 public:
  /// Connects.
  /// @param doing for messages: "list the exports". @param timeout for all that follows.
  /// Throws Error.
  AdminClient(std::string path, std::string doing, std::chrono::milliseconds timeout);

  /// Asks for something, and waits until it is done.
  /// @param request without its version. @return the reply. Throws Error, also when the target says
  /// why it did not do it; UsageError when it says that this makes no sense.
  Json ask(Json request);

 private:
  [[noreturn]] void fail(const std::string& why) const;
  void send(const std::string& text) const;
  std::string receive() const;
  void await(short events) const;

  std::string path_;
  std::string doing_;
  std::chrono::milliseconds timeout_;
  std::chrono::steady_clock::time_point end_;
  UniqueFd socket_;
};

}  // namespace rdmablk::cli
