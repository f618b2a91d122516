#include "fuse/fuse_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fuse3/fuse_log.h>
#include <linux/fuse.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "common/error.h"
#include "common/mount_table.h"
#include "fuse/slot.h"
#include "fuse/stderr_capture.h"

namespace rdmablk::fuse {

namespace {

// libfuse hands neither a thread nor a request to its I/O and log functions.
thread_local int answer_descriptor = -1;

ssize_t answer(int /*fd*/, iovec* pieces, int count, void* /*userdata*/) {
  return ::writev(answer_descriptor, pieces, count);
}

ssize_t refuse_to_read(int /*fd*/, void* /*buffer*/, std::size_t /*size*/, void* /*userdata*/) {
  errno = ENOSYS;  // workers read by themselves
  return -1;
}

/// While one lives, what libfuse says on this thread is kept in place of logged.
class FuseLogCapture {
 public:
  FuseLogCapture() noexcept { current = this; }
  ~FuseLogCapture() { current = nullptr; }
  FuseLogCapture(const FuseLogCapture&) = delete;
  FuseLogCapture& operator=(const FuseLogCapture&) = delete;

  const std::string& text() const noexcept { return text_; }

  [[gnu::format(printf, 2, 0)]] static void log(fuse_log_level level, const char* format,
                                                va_list arguments) {
    std::array<char, 512> line{};
    std::vsnprintf(line.data(), line.size(), format, arguments);
    std::string text(line.data());
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (current != nullptr) {
      current->text_ = std::move(text);
    } else if (level <= FUSE_LOG_ERR) {
      spdlog::error("{}", text);
    } else {
      spdlog::debug("{}", text);
    }
  }

 private:
  static thread_local FuseLogCapture* current;
  std::string text_;
};

thread_local FuseLogCapture* FuseLogCapture::current = nullptr;

/// libfuse splits options at commas.
std::string escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == ',' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string option_text(const MountSettings& settings) {
  // The kernel checks the mode bits (default_permissions); it reads in pieces that fit a slot.
  std::string text =
      fmt::format("fsname={},subtype=rdmablk,default_permissions,max_read={},nosuid,nodev",
                  escaped(settings.source), kMaxPayload);
  if (settings.read_only) text += ",ro";
  if (settings.allow_other) text += ",allow_other";
  if (!settings.flags.empty()) text += "," + settings.flags;
  return text;
}

/// What to do about why something could not be mounted, as the end of a sentence.
std::string remedy(std::string_view why) {
  if (why.ends_with(errno_text(EPERM))) {
    return "; it takes CAP_SYS_ADMIN, which a container gets with --cap-add SYS_ADMIN";
  }
  if (::access("/dev/fuse", F_OK) == 0) return "";
  return "; there is no /dev/fuse: `modprobe fuse` makes it, and a container is given it with "
         "--device=/dev/fuse";
}

/// The last line of what fusermount3 or libfuse said, without the program's name.
std::string reason(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  for (const std::string_view prefix : {"fusermount3: ", "fuse: "}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  return text.empty() ? "libfuse gives no reason" : text;
}

}  // namespace

void set_answer_descriptor(int fd) noexcept {
  answer_descriptor = fd;
}

FuseSession::FuseSession(const MountSettings& settings, const fuse_lowlevel_ops& operations,
                         void* userdata) {
  fuse_set_log_func(&FuseLogCapture::log);
  std::string program = "rdmablk-fuse";
  std::string flag = "-o";
  std::string options = option_text(settings);
  std::array<char*, 4> words{program.data(), flag.data(), options.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, words.data());
  const FuseLogCapture log;
  session_.reset(fuse_session_new(&arguments, &operations, sizeof operations, userdata));
  fuse_opt_free_args(&arguments);
  if (!session_) throw Error(fmt::format("cannot start FUSE: {}", reason(log.text())));
}

FuseSession::~FuseSession() {
  unmount();
}

void FuseSession::mount(const std::string& path) {
  {
    const FuseLogCapture log;
    const StderrCapture output;
    if (fuse_session_mount(session_.get(), path.c_str()) != 0) {
      const std::string said = output.text();
      const std::string why = reason(said.empty() ? log.text() : said);
      throw Error(fmt::format("cannot mount on {}: {}{}", path, why, remedy(why)));
    }
  }
  path_ = path;
  if (const auto entry = mounted_at(path)) device_ = entry->device;
  fuse_custom_io io{};
  io.writev = &answer;
  io.read = &refuse_to_read;
  const int error = fuse_session_custom_io(session_.get(), &io, fuse_session_fd(session_.get()));
  if (error != 0) throw SystemError("set up libfuse's descriptors", -error);
}

UniqueFd FuseSession::clone() const {
  UniqueFd clone(::open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!clone) throw SystemError("open /dev/fuse", errno);
  std::uint32_t master = static_cast<std::uint32_t>(fuse_session_fd(session_.get()));
  if (::ioctl(clone.get(), FUSE_DEV_IOC_CLONE, &master) != 0) {
    throw SystemError("make a descriptor of /dev/fuse for a worker", errno);
  }
  return clone;
}

void FuseSession::forget_attributes(fuse_ino_t node) const noexcept {
  set_answer_descriptor(fuse_session_fd(session_.get()));
  constexpr off_t kNoData = -1;
  const int error = fuse_lowlevel_notify_inval_inode(session_.get(), node, kNoData, 0);
  if (error != 0) spdlog::debug("cannot tell the kernel of a new size: {}", errno_text(-error));
}

/// Whether the kernel has given up the connection: unmounted, or aborted.
bool FuseSession::connection_ended() const noexcept {
  pollfd connection{fuse_session_fd(session_.get()), 0, 0};
  return ::poll(&connection, 1, 0) == 1 && (connection.revents & POLLERR) != 0;
}

/// Whether this mount is what the path shows: somebody may have detached it, and mounted something
/// else in its place.
bool FuseSession::is_in_place() const noexcept {
  try {
    const auto entry = mounted_at(path_);
    return entry && entry->device == device_;
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
    return false;
  }
}

/// Makes libfuse take the mount for gone, so that it unmounts nothing at the path: a descriptor of
/// /dev/fuse without a connection looks like one whose connection has ended.
void FuseSession::disown_mount() const noexcept {
  const UniqueFd unconnected(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (unconnected) ::dup3(unconnected.get(), fuse_session_fd(session_.get()), O_CLOEXEC);
}

bool FuseSession::unmount() noexcept {
  if (path_.empty()) return false;
  bool busy = false;
  if (!connection_ended()) {
    if (is_in_place()) {
      // libfuse detaches at once; only a plain unmount tells whether it is in use (by root).
      busy = ::umount2(path_.c_str(), UMOUNT_NOFOLLOW) != 0 && errno == EBUSY;
    } else {
      disown_mount();
    }
  }
  fuse_session_unmount(session_.get());
  path_.clear();
  return busy;
}

}  // namespace rdmablk::fuse
