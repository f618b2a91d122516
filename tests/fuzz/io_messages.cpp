// Payloads of I/O queues: commands with their ranges, extents, the reply to QUEUE, entries of a
// chunk table.
#include "common/protocol/io_messages.h"

#include <memory>
#include <vector>

#include "initiator/chunk_map.h"
#include "tests/fuzz/exact_copy.h"
#include "tests/fuzz/input.h"
#include "tests/unit/common/message_bounds.h"

namespace rdmablk::protocol {
namespace {

using fuzz::ExactCopy;
using fuzz::Input;
using fuzz::require;

std::vector<std::byte> encode(const auto& write) {
  std::vector<std::byte> buffer(kMaxMessage - kHeaderSize);
  WireWriter writer(buffer);
  write(writer);
  require(writer.ok(), "what was decoded fits a message");
  buffer.resize(writer.size());
  return buffer;
}

void check_command(Input& input) {
  const auto type =
      static_cast<MessageType>(static_cast<unsigned>(MessageType::read) + input.choice(6));
  const auto size = input.number<std::uint64_t>();
  const ExactCopy payload(input.rest());
  const auto command = IoCommand::decode(type, payload.bytes(), size);
  if (!command) return;
  const IoRequest& request = command->request();
  if (type != MessageType::flush) {
    require(command->range_count() == 0, "only a flush has ranges");
    require(request.length > 0 && request.offset < size && request.length <= size - request.offset,
            "a request lies within the export");
  }
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < command->range_count(); ++i) {
    const Range range = command->range(i);
    require(range.length > 0 && range.offset >= end, "ranges ascend");
    require(range.offset < size && range.length <= size - range.offset, "within the export");
    end = range.offset + range.length;
  }
  const auto sent = encode([&](WireWriter& writer) {
    request.encode(writer);
    for (std::size_t i = 0; i < command->range_count(); ++i) command->range(i).encode(writer);
  });
  require(std::ranges::equal(sent, payload.bytes()), "a command is sent as it came");
}

void check_extents(Input& input) {
  std::array<Extent, kMaxExtents> extents;
  const auto received = input.rest();
  const auto count = decode_extents(ExactCopy(received).bytes(), extents);
  if (!count) return;
  require(*count <= kMaxExtents, "no more extents than there is room for");
  const auto filled = std::span(extents).first(*count);
  const auto sent = encode([&](WireWriter& writer) { encode_extents(writer, filled); });
  require(sent.size() == received.size(), "extents are as long as what came");
  std::array<Extent, kMaxExtents> again;
  require(decode_extents(sent, again) == *count, "extents can be sent");
  require(std::ranges::equal(std::span(again).first(*count), filled), "and say the same");
}

void check_queue_reply(Input& input) {
  const auto received = input.rest();
  const auto reply = QueueReply::decode(ExactCopy(received).bytes());
  if (!reply) return;
  require(is_in_bounds(*reply), "what was decoded is in bounds");
  const auto sent = encode([&](WireWriter& writer) { reply->encode(writer); });
  require(sent.size() == received.size(), "it is as long as what came");
}

/// What an initiator reads from the target's memory, and computes with.
void check_chunk_table(Input& input) {
  const auto size = input.number<std::uint64_t>();
  const auto chunk_size = input.number<std::uint64_t>();
  const std::uint32_t count = initiator::ChunkMap::count(size, chunk_size);
  require(count <= initiator::ChunkMap::kMaxChunks, "no more chunks than an initiator takes");
  const ExactCopy table(input.rest());
  if (count == 0 || table.bytes().size() < std::size_t{count} * ChunkEntry::kSize) return;
  WireReader reader(table.bytes());
  std::vector<ChunkEntry> entries(count);
  for (ChunkEntry& entry : entries) entry.decode(reader);
  const initiator::ChunkMap map(chunk_size, std::move(entries));
  for (const std::uint64_t offset : {std::uint64_t{0}, size / 2, size - 1}) {
    const auto place = map.locate(offset);
    require(place.contiguous > 0 && place.contiguous <= chunk_size, "a place lies in its chunk");
  }
}

void check(Input& input) {
  switch (input.choice(4)) {
    case 0:
      return check_command(input);
    case 1:
      return check_extents(input);
    case 2:
      return check_queue_reply(input);
    default:
      return check_chunk_table(input);
  }
}

}  // namespace
}  // namespace rdmablk::protocol

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::protocol::check(input);
  return 0;
}
