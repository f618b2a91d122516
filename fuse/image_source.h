#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/uri.h"
#include "fuse/worker_plan.h"
#include "initiator/credentials.h"
#include "initiator/image.h"

namespace rdmablk::fuse {

/// Where an image comes from, and what keeps it alive. All calls come from one thread: first
/// image() and whatever is made of it, then start(), in the end stop(), after which what was made
/// of the image is destroyed, and then the source.
class ImageSource {
 public:
  ImageSource() = default;
  virtual ~ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;

  virtual initiator::Image& image() noexcept = 0;

  /// The workers that it has queues for, and their depth: no more than was asked for.
  virtual WorkerPlan plan() const noexcept = 0;

  /// No queue is used before.
  virtual void start() = 0;

  /// No queue is used afterwards.
  virtual void stop() noexcept = 0;
};

/// Attaches an export. When locked memory is short, with less than the plan, and a warning.
/// @param read_only asks for no more; an export that is read-only is attached so anyway.
/// @param credentials for a target that asks who this is. Throws Error.
std::unique_ptr<ImageSource> open_remote(const Uri& uri, const WorkerPlan& wanted, bool read_only,
                                         std::optional<initiator::Credentials> credentials);

/// Makes an image of local memory (NullImage). @param size bytes. Throws SystemError.
std::unique_ptr<ImageSource> open_null(std::uint64_t size, const WorkerPlan& wanted,
                                       bool read_only);

}  // namespace rdmablk::fuse
