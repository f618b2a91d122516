#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "initiator/capi/caretaker.h"
#include "initiator/capi/memory.h"
#include "initiator/capi/options.h"
#include "initiator/capi/queue.h"
#include "initiator/capi/use_counters.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

/// A connected image, and all that belongs to it.
struct rdmablk_image {
  /// Connects. Logs, here and later, where the calling thread does. Throws Error.
  rdmablk_image(const rdmablk::Uri& uri, const rdmablk_options& options,
                const rdmablk::initiator::SessionOptions& session);
  ~rdmablk_image();
  rdmablk_image(const rdmablk_image&) = delete;
  rdmablk_image& operator=(const rdmablk_image&) = delete;

  const std::string& uri() const noexcept { return uri_; }
  const rdmablk::initiator::RemoteImage& remote() const noexcept { return *image_; }
  const rdmablk::initiator::Session& session() const noexcept { return *session_; }
  const std::vector<std::unique_ptr<rdmablk_queue>>& queues() const noexcept { return queues_; }
  unsigned depth() const noexcept { return depth_; }

  /// Throws Error.
  rdmablk_memory& allocate(std::size_t bytes);
  rdmablk_memory& register_memory(std::span<std::byte> bytes);
  void free(const rdmablk_memory& memory) noexcept;

 private:
  rdmablk_memory& keep(std::unique_ptr<rdmablk_memory> memory);

  std::string uri_;
  std::shared_ptr<spdlog::logger> log_;
  std::vector<rdmablk::capi::UseCounters> use_;           // of each queue; the image reports them
  std::unique_ptr<rdmablk::initiator::Session> session_;  // outlives the image
  std::unique_ptr<rdmablk::initiator::RemoteImage> image_;
  unsigned depth_ = 1;
  std::mutex mutex_;  ///< of memories_
  std::vector<std::unique_ptr<rdmablk_memory>> memories_;
  std::vector<std::unique_ptr<rdmablk_queue>> queues_;  // go before the memory that they work on
  std::optional<rdmablk::capi::Caretaker> caretaker_;
};
