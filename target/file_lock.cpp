#include "target/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"

namespace rdmablk::target {
namespace {

LockOutcome outcome(bool done) {
  if (done) return LockOutcome::locked;
  switch (errno) {
    case EAGAIN:
    case EACCES:
    case EINTR:
      return LockOutcome::held;
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL:
      return LockOutcome::unsupported;
    default:
      throw SystemError("lock a file", errno);
  }
}

LockOutcome try_ofd_lock(int fd, bool shared) {
  struct flock whole {};
  whole.l_type = static_cast<short>(shared ? F_RDLCK : F_WRLCK);
  whole.l_whence = SEEK_SET;
  return outcome(::fcntl(fd, F_OFD_SETLK, &whole) == 0);
}

LockOutcome try_flock(int fd, bool shared) {
  return outcome(::flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0);
}

LockOutcome try_lock(int fd, bool shared) {
  const LockOutcome ofd = try_ofd_lock(fd, shared);
  return ofd == LockOutcome::locked ? try_flock(fd, shared) : ofd;
}

}  // namespace

LockOutcome lock_file(int fd, bool shared, const Patience& patience) {
  LockOutcome result = try_lock(fd, shared);
  while (result == LockOutcome::held && patience.wait()) result = try_lock(fd, shared);
  return result;
}

LockOutcome probe_lock(int fd, bool shared) {
  struct flock whole {};
  whole.l_type = static_cast<short>(shared ? F_RDLCK : F_WRLCK);
  whole.l_whence = SEEK_SET;
  const LockOutcome asked = outcome(::fcntl(fd, F_OFD_GETLK, &whole) == 0);
  if (asked != LockOutcome::locked) return asked;
  return whole.l_type == F_UNLCK ? LockOutcome::locked : LockOutcome::held;
}

}  // namespace rdmablk::target
