#include "initiator/resizing.h"

#include <algorithm>

#include "initiator/attached_image.h"
#include "initiator/rdma_session.h"

namespace rdmablk::initiator {

bool Resizing::has_news() const {
  return under_way_ ? under_way_->image->has_resized() : session_.has_event();
}

void Resizing::advance() {
  if (under_way_ && under_way_->image->has_resized()) {
    const UnderWay done = *std::exchange(under_way_, std::nullopt);
    done.image->finish_resize();
    session_.acknowledge(done.event);
  }
  if (!under_way_ && session_.has_event()) begin(*session_.take_event());
}

void Resizing::begin(const AdminLink::Event& event) {
  const auto& images = session_.images();
  const auto found = std::ranges::find_if(images, [&](const AttachedImage* image) {
    const Attachment& attached = image->attached();
    return attached.is_attached() && attached.current().attachment == event.notice.attachment;
  });
  if (found == images.end() || (*found)->is_lost()) return session_.acknowledge(event);
  try {
    (*found)->begin_resize(event.notice);
    under_way_ = UnderWay{event, *found};
  } catch (const Error& error) {
    session_.lose(error.what());
  }
}

void Resizing::forget(const AttachedImage& image) noexcept {
  if (under_way_ && under_way_->image == &image) under_way_.reset();
}

}  // namespace rdmablk::initiator
