#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "common/softverbs/file_descriptor.h"
#include "common/softverbs/verbs/event_handler.h"
#include "common/softverbs/verbs/message.h"

namespace softverbs {

class Peer;
class Process;
class Service;

/// A connection that a peer opened to this process: requests come in, replies go out. Used under
/// the progress lock only.
class Connection : public EventHandler {
 public:
  Connection(Process& process, Service& service, FileDescriptor fd);

  [[nodiscard]] int fd() const { return fd_.get(); }
  /// The identity of the peer; 0 before it has greeted.
  [[nodiscard]] uint64_t token() const { return token_; }

  void on_events(uint32_t events) override;

  /// Sends a reply, now or when the peer takes it. `payload` has `reply.payload` bytes.
  void reply(const Message& reply, const char* payload);
  /// Room for the payload of a reply.
  std::vector<char>& answer_buffer() { return answer_; }

 private:
  void receive();
  bool greet(const char* data, size_t length);
  void handle(const Message& request, const char* payload);
  void send_backlog();
  void release_requests();
  void close();
  Peer* peer();

  Process& process_;
  Service& service_;
  FileDescriptor fd_;
  uint64_t token_ = 0;
  std::shared_ptr<Peer> peer_;  ///< Where this process's requests to the same process go.
  std::deque<std::vector<char>> backlog_;
  std::vector<char> buffer_;
  std::vector<char> answer_;
};

}  // namespace softverbs
