#include "common/protocol/io_messages.h"

#include <bit>
#include <cerrno>

namespace rdmablk::protocol {
namespace {

constexpr std::uint32_t kExtentHole = 1;
constexpr std::uint32_t kMaxAlignment = 1U << 16U;

std::uint32_t known_flags(MessageType type) {
  switch (type) {
    case MessageType::write:
      return IoRequest::kDurable;
    case MessageType::zero:
      return IoRequest::kDurable | IoRequest::kDiscard;
    case MessageType::flush:
      return IoRequest::kMore;
    default:
      return 0;
  }
}

bool is_within(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return length > 0 && offset < size && length <= size - offset;
}

}  // namespace

void QueueReply::encode(WireWriter& writer) const {
  writer.put(address);
  writer.put(rkey);
  writer.put(commands);
  writer.put(stride);
  writer.put(max_io);
  writer.put(alignment);
  writer.pad(4);
}

std::optional<QueueReply> QueueReply::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  QueueReply reply;
  reader.get(reply.address);
  reader.get(reply.rkey);
  reader.get(reply.commands);
  reader.get(reply.stride);
  reader.get(reply.max_io);
  reader.get(reply.alignment);
  reader.skip(4);
  if (!reader.ok() || !reader.rest().empty() || reply.commands == 0) return std::nullopt;
  if (!std::has_single_bit(reply.alignment) || reply.alignment > kMaxAlignment) return std::nullopt;
  return reply;
}

void IoRequest::encode(WireWriter& writer) const {
  writer.put(offset);
  writer.put(length);
  writer.put(flags);
  writer.put(count);
}

void Range::encode(WireWriter& writer) const {
  writer.put(offset);
  writer.put(length);
}

void Range::decode(WireReader& reader) {
  reader.get(offset);
  reader.get(length);
}

std::optional<IoCommand> IoCommand::decode(MessageType type, std::span<const std::byte> payload,
                                           std::uint64_t export_size) {
  WireReader reader(payload);
  IoCommand command;
  IoRequest& request = command.request_;
  reader.get(request.offset);
  reader.get(request.length);
  reader.get(request.flags);
  reader.get(request.count);
  if (!reader.ok() || (request.flags & ~known_flags(type)) != 0) return std::nullopt;
  command.ranges_ = reader.rest();
  if (type != MessageType::flush) {
    const bool good =
        command.ranges_.empty() && is_within(request.offset, request.length, export_size);
    return good ? std::optional(command) : std::nullopt;
  }
  if (command.ranges_.size() != std::uint64_t{request.count} * Range::kSize) return std::nullopt;
  std::uint64_t end = 0;  // of the ranges before
  for (std::size_t i = 0; i < command.range_count(); ++i) {
    const Range range = command.range(i);
    if (range.offset < end) return std::nullopt;
    if (!is_within(range.offset, range.length, export_size)) return std::nullopt;
    end = range.offset + range.length;
  }
  return command;
}

Range IoCommand::range(std::size_t index) const noexcept {
  WireReader reader(ranges_.subspan(index * Range::kSize, Range::kSize));
  Range range;
  range.decode(reader);
  return range;
}

void encode_extents(WireWriter& writer, std::span<const Extent> extents) {
  writer.put(static_cast<std::uint32_t>(extents.size()));
  writer.pad(4);
  for (const Extent& extent : extents) {
    writer.put(extent.length);
    writer.put(extent.is_hole ? kExtentHole : std::uint32_t{0});
    writer.pad(4);
  }
}

std::optional<std::size_t> decode_extents(std::span<const std::byte> payload,
                                          std::span<Extent> into) {
  WireReader reader(payload);
  std::uint32_t count = 0;
  reader.get(count);
  reader.skip(4);
  if (!reader.ok() || count > into.size()) return std::nullopt;
  for (Extent& extent : into.first(count)) {
    std::uint32_t flags = 0;
    reader.get(extent.length);
    reader.get(flags);
    reader.skip(4);
    extent.is_hole = (flags & kExtentHole) != 0;
    if (extent.length == 0) return std::nullopt;
  }
  if (!reader.ok() || !reader.rest().empty()) return std::nullopt;
  return count;
}

Status status_of_errno(int error) noexcept {
  switch (error) {
    case 0:
      return Status::ok;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Status::no_space;
    case EROFS:
    case EPERM:
      return Status::read_only;
    case EOPNOTSUPP:
      return Status::not_supported;
    default:
      return Status::io_error;
  }
}

int errno_of_status(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return 0;
    case Status::no_space:
      return ENOSPC;
    case Status::read_only:
      return EROFS;
    case Status::not_supported:
      return EOPNOTSUPP;
    default:
      return EIO;
  }
}

}  // namespace rdmablk::protocol
