#pragma once

#include <sys/types.h>

#include <functional>

namespace softverbs::test {

/// A socket to the other process: sends and receives plain structures whole.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  ~Wire();

  template <typename Value>
  void send(const Value& value) {
    send_bytes(&value, sizeof value);
  }
  template <typename Value>
  Value receive() {
    Value value{};
    receive_bytes(&value, sizeof value);
    return value;
  }

 private:
  void send_bytes(const void* data, size_t size);
  void receive_bytes(void* data, size_t size);

  int fd_;
};

/// Two connected sockets.
struct SocketPair {
  SocketPair();
  int ends[2];
};

/// A forked process that runs a function and dies with this one. Make it before anything of the
/// device is used. Failed expectations in the function make `join` return non-zero.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void(Wire&)>& body);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  Wire& wire() { return wire_; }
  /// Sends it a signal; with SIGSTOP, waits until it has stopped.
  void signal(int number);
  void kill();
  /// Waits for its end. \return its exit status, or 128 and more when it was killed.
  int join();

 private:
  ChildProcess(const std::function<void(Wire&)>& body, const SocketPair& sockets);

  Wire wire_;
  pid_t pid_ = -1;
};

}  // namespace softverbs::test
