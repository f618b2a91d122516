#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/protocol/wire.h"

namespace rdmablk::protocol {

/// What an initiator has done with an attachment since that was made: the target cannot see what
/// goes past its CPU.
struct Use {
  std::uint64_t reads = 0;          ///< requests that have ended, well or not
  std::uint64_t writes = 0;         ///< the same
  std::uint64_t flushes = 0;        ///< the same
  std::uint64_t others = 0;         ///< the same: zeroing, discarding, asking for holes
  std::uint64_t bytes_read = 0;     ///< by reads that have succeeded
  std::uint64_t bytes_written = 0;  ///< the same, by writes
  std::uint64_t errors = 0;         ///< requests that have failed

  static constexpr std::size_t kFields = 7;
  std::array<std::uint64_t, kFields> fields() const noexcept;
  static Use of(const std::array<std::uint64_t, kFields>& fields) noexcept;

  /// What has come to it since `before`; a number that has gone back counts as new from 0 on.
  Use since(const Use& before) const noexcept;

  /// Adds, up to the largest number that there is.
  Use& operator+=(const Use& other) noexcept;

  bool operator==(const Use&) const = default;
};

struct AttachmentUse {
  std::uint64_t attachment = 0;
  Use use;
};

/// The payload of an initiator's KEEPALIVE where both ends have Feature::counters.
struct UseReport {
  static constexpr std::size_t kMaxEntries = 32;

  std::vector<AttachmentUse> entries;

  void encode(WireWriter& writer) const;
  static std::optional<UseReport> decode(std::span<const std::byte> payload);
};

}  // namespace rdmablk::protocol
