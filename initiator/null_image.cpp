#include "initiator/null_image.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "common/error.h"
#include "common/unique_fd.h"
#include "initiator/request_list.h"
#include "initiator/whole_map.h"

namespace rdmablk::initiator {

namespace {

constexpr std::uint32_t kBlockSize = 4096;

/// Does the work in kick().
class NullQueue final : public Queue {
 public:
  explicit NullQueue(std::span<std::byte> memory) : memory_(memory), event_(make_event()) {}

  void submit(Request& request) noexcept override { waiting_.push(request); }
  void kick() noexcept override;
  std::size_t poll(std::span<Request*> done) noexcept override;
  bool is_quiet() const noexcept override { return waiting_.empty() && done_.empty(); }
  int fd() const noexcept override { return event_.get(); }
  void arm() noexcept override;
  void drain() noexcept override;

 private:
  static int make_event();
  int perform(Request& request) noexcept;
  void signal() noexcept;

  std::span<std::byte> memory_;
  UniqueFd event_;
  RequestList waiting_;
  RequestList done_;
  bool armed_ = false;
  bool signalled_ = false;
};

int NullQueue::make_event() {
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) throw SystemError("make a descriptor for completions", errno);
  return fd;
}

void NullQueue::kick() noexcept {
  while (!waiting_.empty()) {
    Request& request = waiting_.pop();
    request.error = perform(request);
    done_.push(request);
  }
  if (armed_ && !done_.empty()) signal();
}

int NullQueue::perform(Request& request) noexcept {
  if (request.operation == Operation::flush) return 0;
  if (request.operation == Operation::map && request.length == 0) return 0;
  if (request.offset > memory_.size() || request.length > memory_.size() - request.offset) {
    return EINVAL;
  }
  std::byte* const place = memory_.data() + request.offset;
  switch (request.operation) {
    case Operation::read:
      std::memcpy(request.data, place, request.length);
      break;
    case Operation::write:
      std::memcpy(place, request.data, request.length);
      break;
    case Operation::zero:
    case Operation::discard:
      std::memset(place, 0, request.length);
      break;
    case Operation::map:
      map_as_data(request);
      break;
    case Operation::flush:
      break;
  }
  return 0;
}

std::size_t NullQueue::poll(std::span<Request*> done) noexcept {
  std::size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

void NullQueue::drain() noexcept {
  if (!signalled_) return;
  eventfd_t ignored = 0;
  ::eventfd_read(event_.get(), &ignored);
  signalled_ = false;
}

void NullQueue::arm() noexcept {
  drain();
  armed_ = true;
  if (!done_.empty()) signal();
}

void NullQueue::signal() noexcept {
  ::eventfd_write(event_.get(), 1);
  signalled_ = true;
  armed_ = false;
}

}  // namespace

NullImage::NullImage(std::string name, std::uint64_t size, bool read_only)
    : info_{.name = std::move(name),
            .size = size,
            .read_only = read_only,
            .block_size = kBlockSize,
            .flush_is_free = true},
      memory_(MemoryMapping::anonymous(size)) {}

std::unique_ptr<Queue> NullImage::make_queue(unsigned /*depth*/) {
  return std::make_unique<NullQueue>(memory_.bytes().first(info_.size));
}

std::unique_ptr<RequestBuffers> NullImage::make_buffers(std::size_t bytes) {
  return std::make_unique<RequestBuffers>(bytes);
}

}  // namespace rdmablk::initiator
