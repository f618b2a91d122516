#pragma once

#include <optional>

#include "initiator/admin_link.h"

namespace rdmablk::initiator {

class AttachedImage;
class RdmaSession;

/// Takes up what a target tells of the sizes of exports: has the queues of the image go over to the
/// new size, one event after the other, and acknowledges when none uses the old one any more. Waits
/// for no queue. Used by the control thread.
class Resizing {
 public:
  /// @param session outlives it.
  explicit Resizing(RdmaSession& session) noexcept : session_(session) {}

  /// Whether advance() has something to do.
  bool has_news() const;

  void advance();

  /// The session with the target has ended, and what was told in it.
  void forget() noexcept { under_way_.reset(); }

  /// An image is destroyed.
  void forget(const AttachedImage& image) noexcept;

 private:
  struct UnderWay {
    AdminLink::Event event;
    AttachedImage* image;
  };

  void begin(const AdminLink::Event& event);

  RdmaSession& session_;
  std::optional<UnderWay> under_way_;
};

}  // namespace rdmablk::initiator
