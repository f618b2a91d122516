#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/scale/pattern.h"

namespace rdmablk::scale {

using Duration = std::chrono::steady_clock::duration;

/// How a session is opened, and what it works on.
struct MemberOptions {
  HostPort target;
  std::string export_name;
  protocol::Access access = protocol::Access::read_write;
  unsigned depth = 32;       ///< of its queue, and its requests
  std::uint64_t begin = 0;   ///< bytes: its part of the export
  std::uint64_t length = 0;  ///< bytes, a multiple of kRequestSize
  std::uint64_t salt = 0;    ///< of the export's Pattern
};

/// Bytes of every request.
inline constexpr std::uint64_t kRequestSize = 4096;

/// How long the steps of opening a session took.
struct OpeningTimes {
  Duration connect{};  ///< up to the answer to HELLO
  Duration attach{};
  Duration queue{};  ///< and its buffers, and the control thread

  Duration total() const noexcept { return connect + attach + queue; }
};

/// One session with an attachment, a queue and requests. One thread at a time.
class Member {
 public:
  /// Opens it. Throws Error.
  explicit Member(const MemberOptions& options);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const OpeningTimes& times() const noexcept { return times_; }
  initiator::Queue& queue() noexcept { return *queue_; }
  bool is_connected() const;

  /// Writes its part, one request after the other. Throws Error.
  void write_pattern();

  /// Reads its part and compares. Throws Error when it is not what was written.
  void verify_pattern();

  /// Submits a read of the next 4 KiB of its part; kick() hands it over.
  /// @return false when all its requests are under way.
  bool submit_read();

  /// Takes requests that have ended, and compares what they read. Throws Error.
  /// @return how many there were.
  std::size_t take_done();

 private:
  initiator::Request& prepare(initiator::Operation operation, std::uint64_t offset);
  void wait_for_all();
  void check(const initiator::Request& request);

  MemberOptions options_;
  Pattern pattern_;
  OpeningTimes times_;
  std::unique_ptr<initiator::Session> session_;
  std::unique_ptr<initiator::RemoteImage> image_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;
  std::unique_ptr<initiator::Queue> queue_;
  std::vector<initiator::Request> requests_;
  std::vector<initiator::Request*> free_;
  std::uint64_t next_ = 0;  ///< where the next read begins, from the beginning of its part
};

}  // namespace rdmablk::scale
