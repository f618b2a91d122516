#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace rdmablk::target {

/// Who uses an export: attachments, and I/O queues, which may outlive these until what they have
/// begun is through. Control thread.
class ExportUse {
 public:
  /// As long as it lives, the export is used.
  class Hold {
   public:
    Hold() noexcept = default;
    ~Hold() {
      if (use_ != nullptr) use_->release(is_attachment_);
    }
    Hold(Hold&& other) noexcept
        : use_(std::exchange(other.use_, nullptr)), is_attachment_(other.is_attachment_) {}
    Hold& operator=(Hold&&) = delete;

   private:
    friend class ExportUse;
    Hold(ExportUse& use, bool is_attachment) noexcept : use_(&use), is_attachment_(is_attachment) {}

    ExportUse* use_ = nullptr;
    bool is_attachment_ = false;
  };

  ExportUse() = default;
  ExportUse(const ExportUse&) = delete;
  ExportUse& operator=(const ExportUse&) = delete;

  /// Of an attachment. @param writes whether it may write.
  Hold attach(bool writes) noexcept;

  /// Of an I/O queue.
  Hold hold() noexcept;

  std::size_t attachments() const noexcept { return attachments_; }
  bool is_used() const noexcept { return holds_ > 0; }

  /// Whether anybody could ever write to it.
  bool was_writable() const noexcept { return was_writable_; }

  /// Has `unused` called, once, when nobody uses it any more: from within, or from whatever
  /// releases it. It must only take note.
  void when_unused(std::function<void()> unused);

 private:
  void release(bool is_attachment) noexcept;
  void tell();

  std::size_t attachments_ = 0;
  std::size_t holds_ = 0;  ///< those of attachments, too
  bool was_writable_ = false;
  std::function<void()> unused_;
};

}  // namespace rdmablk::target
