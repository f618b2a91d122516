#pragma once

#include <boost/intrusive/slist.hpp>
#include <cstddef>
#include <cstdint>

namespace rdmablk::target {

/// One operation on a file, made and owned by who submits it, and left alone from Ring::submit()
/// until on_result().
class RingOperation : public boost::intrusive::slist_base_hook<> {
 public:
  enum class Kind : std::uint8_t {
    read,      ///< into `data`, a piece of the fixed buffer `buffer`
    write,     ///< from `data`, a piece of the fixed buffer `buffer`
    sync,      ///< fdatasync(2)
    allocate,  ///< fallocate(2) with `mode`
  };

  /// Data that lies in no fixed buffer.
  static constexpr unsigned kNoBuffer = ~0U;

  Kind kind = Kind::read;
  bool durable = false;         ///< write: as with RWF_DSYNC
  int mode = 0;                 ///< allocate: FALLOC_FL_* flags
  unsigned file = 0;            ///< its number among the ring's registered files
  unsigned buffer = kNoBuffer;  ///< number of the registered buffer that `data` lies in
  std::byte* data = nullptr;
  std::uint64_t length = 0;  ///< bytes; of a read or write less than 2 GiB
  std::uint64_t offset = 0;

  /// The operation has ended. On the ring's thread.
  /// @param result what the system call returns: bytes read or written, 0, or a negative errno
  /// value (io_uring_enter(2)). May submit the operation anew.
  virtual void on_result(int result) noexcept = 0;

 protected:
  RingOperation() = default;
  ~RingOperation() = default;
  RingOperation(const RingOperation&) = default;
  RingOperation& operator=(const RingOperation&) = default;
};

/// Works on operations, in any order, without blocking. One thread.
class Ring {
 public:
  Ring() = default;
  virtual ~Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// Takes an operation. Always succeeds: what the kernel has no room for waits here. Never calls
  /// on_result() from within.
  virtual void submit(RingOperation& operation) noexcept = 0;
};

}  // namespace rdmablk::target
