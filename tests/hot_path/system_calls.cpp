#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>

#include "tests/hot_path/counter.h"

extern "C" [[gnu::visibility("default")]] ssize_t read(int fd, void* buffer, std::size_t size) {
  static auto* const function = hot_path::next<ssize_t(int, void*, std::size_t)>("read");
  const ssize_t result = function(fd, buffer, size);
  hot_path::count(result > 0 ? hot_path::read_with_data : hot_path::read_in_vain,
                  __builtin_return_address(0));
  return result;
}

extern "C" [[gnu::visibility("default")]] int ioctl(int fd, unsigned long request, ...) noexcept {
  static auto* const function = hot_path::next<int(int, unsigned long, ...)>("ioctl");
  hot_path::count(hot_path::other_call, __builtin_return_address(0));
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return function(fd, request, argument);
}

// With it others are made that have no function of their own: futex, for one.
extern "C" [[gnu::visibility("default")]] long syscall(long number, ...) noexcept {
  static auto* const function = hot_path::next<long(long, ...)>("syscall");
  hot_path::count(hot_path::other_call, __builtin_return_address(0));
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  return function(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

HOT_PATH_COUNTED(reply, ssize_t, writev, (int fd, const iovec* pieces, int count),
                 (fd, pieces, count))
HOT_PATH_COUNTED(wait, int, poll, (pollfd * sources, nfds_t count, int milliseconds),
                 (sources, count, milliseconds))
HOT_PATH_COUNTED(wait, int, epoll_wait, (int fd, epoll_event* events, int count, int milliseconds),
                 (fd, events, count, milliseconds))
HOT_PATH_COUNTED(other_call, ssize_t, write, (int fd, const void* data, std::size_t size),
                 (fd, data, size))
HOT_PATH_COUNTED(other_call, ssize_t, readv, (int fd, const iovec* pieces, int count),
                 (fd, pieces, count))
HOT_PATH_COUNTED(other_call, int, eventfd_read, (int fd, eventfd_t* value), (fd, value))
HOT_PATH_COUNTED(other_call, int, eventfd_write, (int fd, eventfd_t value), (fd, value))
HOT_PATH_COUNTED(other_call, int, epoll_ctl, (int fd, int what, int source, epoll_event* event),
                 (fd, what, source, event), noexcept)
HOT_PATH_COUNTED(other_call, ssize_t, send, (int fd, const void* data, std::size_t size, int flags),
                 (fd, data, size, flags))
HOT_PATH_COUNTED(other_call, ssize_t, recv, (int fd, void* data, std::size_t size, int flags),
                 (fd, data, size, flags))
HOT_PATH_COUNTED(other_call, ssize_t, sendmsg, (int fd, const msghdr* message, int flags),
                 (fd, message, flags))
HOT_PATH_COUNTED(other_call, ssize_t, recvmsg, (int fd, msghdr* message, int flags),
                 (fd, message, flags))
HOT_PATH_COUNTED(other_call, int, madvise, (void* memory, std::size_t size, int advice),
                 (memory, size, advice), noexcept)
HOT_PATH_COUNTED(other_call, int, sched_yield, (), (), noexcept)
HOT_PATH_COUNTED(other_call, int, nanosleep, (const timespec* time, timespec* left), (time, left))
HOT_PATH_COUNTED(other_call, int, usleep, (useconds_t time), (time))
HOT_PATH_COUNTED(other_call, ssize_t, process_vm_readv,
                 (pid_t pid, const iovec* local, unsigned long local_count, const iovec* remote,
                  unsigned long remote_count, unsigned long flags),
                 (pid, local, local_count, remote, remote_count, flags), noexcept)
HOT_PATH_COUNTED(other_call, ssize_t, process_vm_writev,
                 (pid_t pid, const iovec* local, unsigned long local_count, const iovec* remote,
                  unsigned long remote_count, unsigned long flags),
                 (pid, local, local_count, remote, remote_count, flags), noexcept)
HOT_PATH_COUNTED(other_call, ssize_t, pread, (int fd, void* data, std::size_t size, off_t offset),
                 (fd, data, size, offset))
HOT_PATH_COUNTED(other_call, ssize_t, pwrite,
                 (int fd, const void* data, std::size_t size, off_t offset),
                 (fd, data, size, offset))
HOT_PATH_COUNTED(other_call, int, close, (int fd), (fd))
