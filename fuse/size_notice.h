#pragma once

#include <fuse3/fuse_lowlevel.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "fuse/fuse_session.h"

namespace rdmablk::fuse {

/// Has the kernel know that the image has another size: tells it that the attributes that it keeps
/// are not valid any more, and asks for them, as direct I/O and loop devices go by what it knows,
/// and do not ask. Somebody has to answer that; so it is done on a thread of its own, for which
/// nobody waits.
class SizeNotice {
 public:
  SizeNotice() = default;

  /// Ends the thread. @pre stop(), and the session is gone.
  ~SizeNotice();
  SizeNotice(const SizeNotice&) = delete;
  SizeNotice& operator=(const SizeNotice&) = delete;

  /// Begins: the session is mounted and served. Throws SystemError.
  /// @param session outlives stop(). @param node of the image. @param path of it.
  void start(FuseSession& session, fuse_ino_t node, std::string path);

  /// The image has another size. Any thread, also before start() and after stop().
  void tell() noexcept;

  /// Does nothing more with the session. One that is asked at the moment may still have to answer.
  void stop() noexcept;

 private:
  void run() noexcept;

  FuseSession* session_ = nullptr;
  fuse_ino_t node_ = 0;
  std::string path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_due_ = false;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace rdmablk::fuse
