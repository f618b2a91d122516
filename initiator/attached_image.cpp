#include "initiator/attached_image.h"

#include <algorithm>

#include "common/thread_log.h"
#include "common/units.h"
#include "initiator/reconnecting_queue.h"

namespace rdmablk::initiator {

AttachedImage::AttachedImage(std::unique_ptr<Attachment> attachment)
    : attachment_(std::move(attachment)), info_(attachment_->info()), size_(info_.size) {
  attachment_->session().add(*this);
}

AttachedImage::~AttachedImage() {
  attachment_->session().stop();
  attachment_->session().report_use();
  attachment_->session().remove(*this);
}

/// Reports of another attachment begin at zero. What was done between the last one and the loss of
/// the connection goes with the next.
std::optional<protocol::AttachmentUse> AttachedImage::next_report() {
  if (!use_ || !attachment_->is_attached()) return std::nullopt;
  const std::uint64_t attachment = attachment_->current().attachment;
  if (std::exchange(reported_for_, attachment) != attachment) reported_before_ = reported_;
  reported_ = use_();
  return protocol::AttachmentUse{attachment, reported_.since(reported_before_)};
}

std::unique_ptr<Queue> AttachedImage::make_queue(unsigned depth) {
  RdmaSession& session = attachment_->session();
  auto place = std::make_unique<QueuePlace>(
      attachment_->add_queue(), std::min(depth, attachment_->depth_limit()), session.wake());
  auto connected = session.patiently([&] { return connect(*place); });
  QueuePlace& known = *places_.emplace_back(std::move(place));
  return std::make_unique<ReconnectingQueue>(
      known.hand_over, std::move(connected),
      ReconnectingQueue::Options{.read_only = info_.read_only}, [this, &known] { forget(known); });
}

std::unique_ptr<RequestBuffers> AttachedImage::make_buffers(std::size_t bytes) {
  return std::make_unique<RequestBuffers>(bytes, attachment_->session().device_table());
}

std::unique_ptr<Registration> AttachedImage::register_memory(std::span<std::byte> memory) const {
  return std::make_unique<Registration>(attachment_->session().device_table(), memory,
                                        Registration::Use::requests);
}

std::unique_ptr<ConnectedQueue> AttachedImage::connect(QueuePlace& place) {
  RdmaSession& session = attachment_->session();
  const auto paths = session.paths_for(place.number);
  for (const std::size_t path : paths) {
    try {
      place.path = path;
      auto queue =
          connect_queue(place, session.open_way(path), attachment_->next_queue(place.number));
      place.connect(path, queue->way());
      return queue;
    } catch (const Error& error) {
      if (!session.is_open() || session.is_lost()) throw;
      if (path == paths.back()) throw;
      session.keeper().failed(path, error.what());
    }
  }
  throw Error("there is no path to the target");  // there is always one
}

void AttachedImage::ask_to_leave(QueuePlace& place) noexcept {
  place.is_leaving = true;
  place.hand_over.ask_to_leave();
  if (has_news_) has_news_();
}

bool AttachedImage::is_elsewhere(std::size_t path) const noexcept {
  return path != attachment_->session().paths().admin();
}

/// A queue is destroyed; what was on its way to it goes with it.
void AttachedImage::forget(const QueuePlace& place) noexcept {
  attachment_->session().stop();
  std::erase_if(places_, [&](const auto& other) { return other.get() == &place; });
}

std::unique_ptr<QueueResize> AttachedImage::make_resize(const QueuePlace& place) const {
  auto resize = std::make_unique<QueueResize>();
  resize->size = attachment_->current().info.size;
  resize->device = place.way.device;
  return resize;
}

void AttachedImage::begin_resize(const protocol::EventNotice& event) {
  attachment_->resize(event.size, event.table);
  if (event.size < size_) set_size(event.size);
  on_size(event.size);
  for (const auto& place : places_) {
    if (!place->is_connected) continue;  // the next connection begins with the new size
    auto resize = make_resize(*place);
    place->resize = resize.get();
    place->hand_over.offer_resize(std::move(resize));
  }
  if (has_news_) has_news_();
}

bool AttachedImage::has_resized() noexcept {
  for (const auto& place : places_) {
    const auto given_back = place->hand_over.take_resized();
    if (given_back && given_back.get() == place->resize) place->resize = nullptr;
  }
  return std::ranges::all_of(places_, [](const auto& p) { return p->resize == nullptr; });
}

void AttachedImage::finish_resize() {
  if (attachment_->current().info.size != size_) set_size(attachment_->current().info.size);
}

void AttachedImage::adopt_size() {
  const std::uint64_t size = attachment_->current().info.size;
  if (size == size_) return;
  on_size(size);
  set_size(size);
}

void AttachedImage::set_size(std::uint64_t size) {
  thread_log().info("{} has {} now, and had {}", attachment_->uri(), format_size(size),
                    format_size(size_));
  size_ = size;
  if (told_) told_(size);
}

void AttachedImage::set_service(Service service) noexcept {
  if (is_lost_) return;
  for (const auto& place : places_) place->hand_over.set_service(service);
}

void AttachedImage::set_fenced() noexcept {
  for (const auto& place : places_) place->hand_over.set_fenced();
  if (has_news_) has_news_();
}

void AttachedImage::lose() noexcept {
  set_service(Service::lost);
  is_lost_ = true;
}

}  // namespace rdmablk::initiator
