#include "initiator/capi/image.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/known_error.h"
#include "common/thread_log.h"
#include "initiator/capi/failure.h"

using rdmablk::capi::fail;
using rdmablk::capi::guarded;

namespace {

constexpr const char* kNoImage = "the image is NULL";

/// Writes a structure that may be a shorter or a longer one where it goes to.
template <typename Structure>
int give(const Structure& from, void* to, std::size_t size) {
  if (to == nullptr || size == 0) return fail(EINVAL, "there is no place for the answer");
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min(size, sizeof from));
  return 0;
}

std::optional<rdmablk::initiator::Credentials> credentials(const rdmablk_options& options) {
  if (!options.key_file.empty()) {
    try {
      return rdmablk::initiator::Credentials(options.key_file, options.client);
    } catch (const rdmablk::Error& error) {
      throw rdmablk::KnownError(EACCES, error.what());
    }
  }
  if (options.client.empty()) return std::nullopt;
  throw rdmablk::UsageError("a client's name takes a key file, which proves it");
}

}  // namespace

rdmablk_image::rdmablk_image(const rdmablk::Uri& uri, const rdmablk_options& options,
                             const rdmablk::initiator::SessionOptions& session)
    : uri_(uri.text()), log_(rdmablk::shared_thread_log()) {
  session_ = rdmablk::initiator::Session::connect(uri.target, session);
  image_ = session_->attach(uri.export_name, options.attach);
  const auto& granted = image_->attachment();
  const unsigned count = std::clamp<unsigned>(granted.queues, 1, options.attach.queues);
  depth_ = std::clamp<unsigned>(granted.depth, 1, options.attach.depth);
  use_ = std::vector<rdmablk::capi::UseCounters>(count);
  for (auto& counters : use_) {
    queues_.push_back(std::make_unique<rdmablk_queue>(*this, *image_, counters, depth_));
  }
  caretaker_.emplace([this] {
    for (const auto& queue : queues_) queue->care();
  });
  image_->on_news_for_queues([this] { caretaker_->call(); });
  image_->report([this] {
    rdmablk::protocol::Use use;
    for (const auto& counters : use_) use += counters.read();
    return use;
  });
  if (options.on_change != nullptr) {
    const auto told = [function = options.on_change, user = options.change_user] {
      function(user);
    };
    image_->on_resized([told](std::uint64_t /*size*/) { told(); });
    session_->on_phase(told);
  }
  session_->start();
}

rdmablk_image::~rdmablk_image() {
  const rdmablk::ThreadLog own(log_);
  if (session_) session_->stop();
  caretaker_.reset();
  queues_.clear();
  memories_.clear();
  image_.reset();
  session_.reset();
}

rdmablk_memory& rdmablk_image::allocate(std::size_t bytes) {
  return keep(std::make_unique<rdmablk_memory>(*this, image_->make_buffers(bytes)));
}

rdmablk_memory& rdmablk_image::register_memory(std::span<std::byte> bytes) {
  return keep(std::make_unique<rdmablk_memory>(*this, image_->register_memory(bytes)));
}

rdmablk_memory& rdmablk_image::keep(std::unique_ptr<rdmablk_memory> memory) {
  const std::lock_guard lock(mutex_);
  return *memories_.emplace_back(std::move(memory));
}

void rdmablk_image::free(const rdmablk_memory& memory) noexcept {
  std::unique_ptr<rdmablk_memory> freed;  // after the lock: it may take long
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(memories_, [&](const auto& other) { return other.get() == &memory; });
  if (found == memories_.end()) return;
  freed = std::move(*found);
  *found = std::move(memories_.back());
  memories_.pop_back();
}

int rdmablk_version() {
  return RDMABLK_VERSION_NUMBER;
}

const char* rdmablk_error() {
  return rdmablk::capi::last_failure();
}

int rdmablk_connect(const char* uri, const rdmablk_options* options, rdmablk_image** image) {
  if (image == nullptr) return fail(EINVAL, "there is no place for the image");
  *image = nullptr;
  if (uri == nullptr) return fail(EINVAL, "the URI is NULL");
  return guarded([&] {
    static const rdmablk_options kUsual;
    const rdmablk_options& chosen = options == nullptr ? kUsual : *options;
    const rdmablk::ThreadLog own(rdmablk::capi::make_log(chosen));
    auto session = chosen.session;
    session.credentials = credentials(chosen);
    chosen.connection.check(rdmablk::cm::Spelling::mount_option);
    chosen.connection.apply_to(session);
    const auto export_uri = rdmablk::parse_uri(uri, chosen.connection.default_port());
    *image = std::make_unique<rdmablk_image>(export_uri, chosen, session).release();
    return 0;
  });
}

void rdmablk_close(rdmablk_image* image) {
  delete image;
}

int rdmablk_get_info(const rdmablk_image* image, rdmablk_info* info, size_t size) {
  if (image == nullptr) return fail(EINVAL, kNoImage);
  const auto& is = image->remote().info();
  rdmablk_info result{};
  result.uri = image->uri().c_str();
  result.name = is.name.c_str();
  result.device = is.device.c_str();
  result.size = is.size;
  result.block_size = is.block_size;
  result.queues = static_cast<std::uint32_t>(image->queues().size());
  result.depth = image->depth();
  result.read_only = is.read_only ? 1 : 0;
  result.flush_is_free = is.flush_is_free ? 1 : 0;
  result.can_discard = is.can_discard ? 1 : 0;
  const auto& uuid = image->remote().attachment().info.uuid;
  static_assert(sizeof uuid == sizeof result.uuid);
  std::memcpy(result.uuid, uuid.data(), sizeof result.uuid);
  return give(result, info, size);
}

uint64_t rdmablk_get_size(const rdmablk_image* image) {
  return image == nullptr ? 0 : image->remote().size();
}

int rdmablk_get_status(const rdmablk_image* image, rdmablk_status* status, size_t size) {
  if (image == nullptr) return fail(EINVAL, kNoImage);
  return guarded([&] {
    using Phase = rdmablk::initiator::SessionState::Phase;
    using std::chrono::milliseconds;
    const auto state = image->session().state();
    rdmablk_status result{};
    switch (state.phase) {
      case Phase::connected:
        result.state = RDMABLK_CONNECTED;
        break;
      case Phase::reconnecting:
        result.state = RDMABLK_RECONNECTING;
        break;
      case Phase::failing:
        result.state = RDMABLK_FAILING;
        break;
      case Phase::lost:
        result.state = RDMABLK_LOST;
        break;
    }
    result.reconnects = state.reconnects;
    const auto since = std::chrono::steady_clock::now() - state.since;
    result.since_ms = std::chrono::duration_cast<milliseconds>(since).count();
    const std::string& why = state.last_error.empty() ? state.reason : state.last_error;
    why.copy(result.reason, sizeof result.reason - 1);
    return give(result, status, size);
  });
}

rdmablk_queue* rdmablk_get_queue(rdmablk_image* image, unsigned index) {
  if (image == nullptr) return fail(EINVAL, kNoImage), nullptr;
  if (index < image->queues().size()) return image->queues()[index].get();
  fail(EINVAL, "the image has no queue of this number");
  return nullptr;
}

int rdmablk_memory_alloc(rdmablk_image* image, size_t bytes, rdmablk_memory** memory) {
  if (memory == nullptr) return fail(EINVAL, "there is no place for the memory");
  *memory = nullptr;
  if (image == nullptr) return fail(EINVAL, kNoImage);
  if (bytes == 0) return fail(EINVAL, "no memory is asked for");
  if (bytes > PTRDIFF_MAX) return fail(ENOMEM, "there is not so much memory");
  return guarded([&] {
    *memory = &image->allocate(bytes);
    return 0;
  });
}

int rdmablk_memory_register(rdmablk_image* image, void* address, size_t bytes,
                            rdmablk_memory** memory) {
  if (memory == nullptr) return fail(EINVAL, "there is no place for the memory");
  *memory = nullptr;
  if (image == nullptr) return fail(EINVAL, kNoImage);
  if (address == nullptr || bytes == 0) return fail(EINVAL, "no memory is given");
  return guarded([&] {
    *memory = &image->register_memory({static_cast<std::byte*>(address), bytes});
    return 0;
  });
}

int rdmablk_memory_free(rdmablk_memory* memory) {
  if (memory == nullptr) return 0;
  if (memory->is_used()) {
    return fail(EBUSY, "there are requests with this memory whose completion was not reaped");
  }
  memory->image().free(*memory);
  return 0;
}

void* rdmablk_memory_data(const rdmablk_memory* memory) {
  return memory == nullptr ? nullptr : memory->bytes().data();
}

size_t rdmablk_memory_size(const rdmablk_memory* memory) {
  return memory == nullptr ? 0 : memory->bytes().size();
}
