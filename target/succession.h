#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/unique_fd.h"
#include "target/inherited_memory.h"
#include "target/options.h"

namespace rdmablk::target {

/// What passes between a target and its successor, over a Unix socket: a JSON object a line, and
/// the descriptors of one export's memory with the line that names it.

/// What a successor is going to serve.
struct SuccessionRequest {
  std::vector<ExportSpec> exports;    ///< name, kind, size, pages, path, whether it is read-only
  std::vector<std::string> discards;  ///< exports whose memory is to be let go of

  std::string encode() const;

  /// Nothing for what is no such request.
  static std::optional<SuccessionRequest> decode(std::string_view text);
};

/// What a predecessor says, a line at a time.
struct PredecessorLine {
  enum class Kind { refused, accepted, memory, complete };

  Kind kind{};
  std::string text;  ///< why it refuses; the export whose memory comes with the line

  /// Nothing for what is no such line.
  static std::optional<PredecessorLine> decode(std::string_view text);
};

/// Why a successor cannot have memory that there is, for people; nothing when it can.
/// @param memory what is known of each piece.
std::optional<std::string> reason_against(const SuccessionRequest& request,
                                          std::span<const MemoryRecord> memory);

/// The abstract name (unix(7)) of the socket where a target awaits its successor.
std::string succession_socket_name(pid_t target);

/// How long a target may take to say whether it lets itself be succeeded.
inline constexpr std::chrono::seconds kSuccessionPatience{10};

/// The longest line that either may send, in bytes.
inline constexpr std::size_t kMaxSuccessionLine = std::size_t{1} << 20;

/// The successor, as its predecessor sees it. Blocks.
class Successor {
 public:
  /// @param socket connected, of a request that was accepted. @param pid of its process.
  Successor(UniqueFd socket, pid_t pid) noexcept : socket_(std::move(socket)), pid_(pid) {}

  pid_t pid() const noexcept { return pid_; }

  /// Passes memory on, and waits for the word that it is served.
  /// @return whether that came; else the process has gone, and the memory is the caller's still.
  bool pass(std::span<const KeptMemory> memory) noexcept;

 private:
  UniqueFd socket_;
  pid_t pid_;
};

/// The predecessor, as its successor sees it. Blocks.
class Predecessor {
 public:
  /// Has it end, and takes over its memory. Throws Error, which says so when it goes on serving.
  /// @param patience for its answer; once it has agreed it is waited for, as it drains its files.
  Predecessor(pid_t pid, const SuccessionRequest& request, InheritedMemory& memory,
              std::chrono::milliseconds patience = kSuccessionPatience);

  /// Says that everything is served: it is free to end.
  void confirm() noexcept;

 private:
  void take(InheritedMemory& memory);

  pid_t pid_;
  UniqueFd socket_;
};

}  // namespace rdmablk::target
