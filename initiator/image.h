#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "initiator/queue.h"
#include "initiator/request_buffers.h"

namespace rdmablk::initiator {

/// What an image is like; does not change while it is attached, but for its size.
struct ImageInfo {
  std::string name;              ///< of the export
  std::uint64_t size = 0;        ///< bytes, a multiple of 512, when it was attached
  bool read_only = false;        ///< writes and zeroes are refused
  std::uint32_t block_size = 0;  ///< bytes: the alignment that is served best
  bool flush_is_free = false;    ///< flushing has nothing to do
  bool can_discard = false;      ///< discarding may give space back
  bool is_direct = false;        ///< its file is read and written past the page cache
  bool has_holes = false;        ///< mapping it may show holes; else all of it is data
  std::string device{};          ///< the RDMA device that leads to it: "mlx5_0"; empty: none does
};

/// A range of bytes that can be read and written: an attached export, or local memory. Outlives its
/// queues and buffers. Used by one thread while setting up; each queue afterwards by its own.
class Image {
 public:
  Image() = default;
  virtual ~Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  virtual const ImageInfo& info() const noexcept = 0;

  /// Its size now, in bytes. Any thread.
  virtual std::uint64_t size() const noexcept { return info().size; }

  /// Has `told` called with each new size, on the thread that watches the connections: it must not
  /// wait for any queue. When the image has become smaller, requests past its end may be under way
  /// still, and end with EIO, or ENOSPC. Before that thread begins.
  virtual void on_resized(std::function<void(std::uint64_t)> /*told*/) {}

  /// Makes a queue that works on up to `depth` pieces at once; more requests wait in it.
  /// @param depth 1 to 4096. Throws Error.
  virtual std::unique_ptr<Queue> make_queue(unsigned depth) = 0;

  /// Makes memory for the requests of one thread. Throws verbs::MemlockError or Error.
  virtual std::unique_ptr<RequestBuffers> make_buffers(std::size_t bytes) = 0;
};

}  // namespace rdmablk::initiator
