#include "target/export_use.h"

namespace rdmablk::target {

ExportUse::Hold ExportUse::attach(bool writes) noexcept {
  was_writable_ = was_writable_ || writes;
  ++attachments_;
  ++holds_;
  return {*this, true};
}

ExportUse::Hold ExportUse::hold() noexcept {
  ++holds_;
  return {*this, false};
}

void ExportUse::release(bool is_attachment) noexcept {
  if (is_attachment) --attachments_;
  if (--holds_ == 0) tell();
}

void ExportUse::when_unused(std::function<void()> unused) {
  unused_ = std::move(unused);
  if (holds_ == 0) tell();
}

void ExportUse::tell() {
  if (const auto unused = std::exchange(unused_, nullptr)) unused();
}

}  // namespace rdmablk::target
