#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <span>

#include "common/softverbs/file_descriptor.h"
#include "common/softverbs/verbs/event_handler.h"
#include "common/softverbs/verbs/memory_window.h"
#include "common/softverbs/verbs/message.h"
#include "common/softverbs/verbs/shared_table.h"

namespace softverbs {

class Process;

/// A process that queue pairs of this one are connected to; this process itself may be one. It
/// holds the mapping of the other's table, the connection for requests and a descriptor that
/// tells of its death. Thread-safe.
class Peer {
 public:
  enum class Sent {
    kSent,
    kFull,  ///< The connection is full or held; the service thread calls back when it is not.
    kGone,
  };

  /// Connects to the process that owns the queue pair number block `block`. Blocks, bounded, for
  /// the other process's service thread.
  /// Throws std::system_error: no such process, or it does not answer.
  Peer(Process& process, uint32_t block);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] bool is_self() const { return self_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] uint64_t token() const { return token_; }
  [[nodiscard]] SharedTable& table() const { return *table_; }
  [[nodiscard]] int socket() const { return socket_.get(); }
  /// Readable once the process has died; -1 for this process.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }

  [[nodiscard]] bool dead() const { return dead_.load() || table_->death.reads_dead(); }
  void mark_dead() { dead_.store(true); }
  /// Looks, where `dead` only remembers.
  [[nodiscard]] bool check_alive();

  /// Whether the kernel refused to copy from or to the process before.
  [[nodiscard]] bool refuses_copies() const { return refuses_copies_.load(); }
  void remember_refusal() { refuses_copies_.store(true); }

  /// What of its memory is mapped here.
  MemoryWindows& windows() { return windows_; }

  /// Sends a request; the payload is gathered from `payload`.
  Sent send(const Message& message, std::span<const iovec> payload);

  /// Service thread: requests wait (`send` says kFull), because a reply to the peer does.
  void hold_requests() { held_.store(true); }
  /// Service thread: they need not wait any more. The caller resumes the queue pairs.
  void release_requests() { held_.store(false); }

  /// Service thread: the events of `socket` that it should wait for changed.
  std::function<void(bool want_write)> on_interest;
  /// Service thread: the connection takes requests again.
  void writable();

 private:
  void connect(uint32_t block);
  void greet(Process& process);

  FileDescriptor socket_;
  FileDescriptor pidfd_;
  SharedTableMapping mapping_;
  SharedTable* table_ = nullptr;
  MemoryWindows windows_;
  pid_t pid_ = 0;
  uint64_t token_ = 0;
  bool self_ = false;
  std::atomic<bool> dead_{false};
  std::atomic<bool> refuses_copies_{false};
  std::atomic<bool> held_{false};
  std::mutex mutex_;
  bool want_write_ = false;
};

}  // namespace softverbs
