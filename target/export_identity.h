#pragma once

#include <cstdint>

#include "common/protocol/messages.h"

namespace rdmablk::target {

/// What makes an export the one that an initiator knows, for as long as its content lasts: its
/// UUID, the generation of its content, and the number of the last lease to write it. Used by the
/// control thread, but for mark_lost().
class ExportIdentity {
 public:
  virtual ~ExportIdentity() = default;

  virtual const protocol::Uuid& uuid() const noexcept = 0;

  /// Another one whenever content that was acknowledged may have been lost.
  virtual protocol::Generation generation() const = 0;

  /// The number that was given last; zero: none was.
  virtual std::uint64_t last_lease() const noexcept = 0;

  /// Gives the next number, which is greater than all before, also those given before a crash of
  /// the target or of its host. Kept as safe as the export's content before it returns.
  /// Throws Error; no number was given then.
  virtual std::uint64_t next_lease() = 0;

  /// Somebody is about to be let write to it. Control thread.
  virtual void note_writer() noexcept {}

  /// The size of the content, in bytes, is about to change, and has changed; or has not after all.
  /// In between, the content is recognised with either. Any thread. The first two throw Error.
  virtual void begin_resize(std::uint64_t /*size*/) {}
  virtual void end_resize(std::uint64_t /*size*/) {}
  virtual void cancel_resize() noexcept {}

  /// Acknowledged content may be lost (a flush failed): whoever has unflushed writes must not come
  /// back as if nothing had happened. Any thread.
  virtual void mark_lost() noexcept = 0;

 protected:
  ExportIdentity() = default;
  ExportIdentity(const ExportIdentity&) = default;
  ExportIdentity& operator=(const ExportIdentity&) = default;
};

}  // namespace rdmablk::target
