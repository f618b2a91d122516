#include "fuse/size_notice.h"

#include <fcntl.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/loop_size.h"
#include "common/signals.h"

namespace rdmablk::fuse {

SizeNotice::~SizeNotice() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void SizeNotice::start(FuseSession& session, fuse_ino_t node, std::string path) {
  session_ = &session;
  node_ = node;
  path_ = std::move(path);
  const SignalsBlocked blocked;  // they are for the thread that waits for them
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    throw SystemError("start a thread", error.code().value());
  }
  ::pthread_setname_np(thread_.native_handle(), "size");
}

void SizeNotice::tell() noexcept {
  const std::lock_guard lock(mutex_);
  is_due_ = true;
  changed_.notify_one();
}

void SizeNotice::stop() noexcept {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  changed_.notify_one();
}

void SizeNotice::run() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_due_ || is_stopped_; });
    if (is_stopped_) return;
    is_due_ = false;
    session_->forget_attributes(node_);
    lock.unlock();
    struct statx status {};
    if (::statx(AT_FDCWD, path_.c_str(), AT_STATX_FORCE_SYNC, STATX_SIZE, &status) != 0) {
      spdlog::debug("cannot ask {} for its size: {}", path_, errno_text(errno));
    }
    refresh_loop_sizes(path_);
    lock.lock();
  }
}

}  // namespace rdmablk::fuse
