#include "common/softverbs/verbs/memory_copy.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace softverbs {
namespace {

// The bare system calls: sanitizers' versions of the functions look at every byte.
CopyResult transfer(long number, pid_t pid, const PieceList& local, uint64_t remote) {
  size_t done = 0;
  while (done < local.length()) {
    const PieceList rest = done == 0 ? local : local.slice(done, local.length() - done);
    const iovec peer{reinterpret_cast<void*>(remote + done), rest.length()};
    const long copied =
        syscall(number, pid, rest.pieces().data(), rest.pieces().size(), &peer, 1UL, 0UL);
    if (copied < 0) {
      switch (errno) {
        case ESRCH:
          return CopyResult::kGone;
        case EPERM:
        case ENOSYS:
          return CopyResult::kRefused;
        case EINTR:
          continue;
        default:
          return CopyResult::kFault;
      }
    }
    if (copied == 0) return CopyResult::kFault;
    done += static_cast<size_t>(copied);
  }
  return CopyResult::kDone;
}

}  // namespace

PieceList PieceList::slice(size_t offset, size_t length) const {
  PieceList result;
  for (const iovec& piece : pieces()) {
    if (length == 0) break;
    if (offset >= piece.iov_len) {
      offset -= piece.iov_len;
      continue;
    }
    const size_t taken = std::min(piece.iov_len - offset, length);
    result.add(reinterpret_cast<uint64_t>(piece.iov_base) + offset, taken);
    offset = 0;
    length -= taken;
  }
  return result;
}

void copy_raw(void* to, const void* from, size_t length) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
#else
  std::memmove(to, from, length);
#endif
}

void scatter(const PieceList& pieces, const void* from) {
  const char* next = static_cast<const char*>(from);
  for (const iovec& piece : pieces.pieces()) {
    copy_raw(piece.iov_base, next, piece.iov_len);
    next += piece.iov_len;
  }
}

void gather(const PieceList& pieces, void* to) {
  char* next = static_cast<char*>(to);
  for (const iovec& piece : pieces.pieces()) {
    copy_raw(next, piece.iov_base, piece.iov_len);
    next += piece.iov_len;
  }
}

CopyResult write_process(pid_t pid, const PieceList& local, uint64_t remote) {
  return transfer(SYS_process_vm_writev, pid, local, remote);
}

CopyResult read_process(pid_t pid, const PieceList& local, uint64_t remote) {
  return transfer(SYS_process_vm_readv, pid, local, remote);
}

}  // namespace softverbs
