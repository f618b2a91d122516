#pragma once

#include <algorithm>
#include <vector>

#include "common/protocol/io_messages.h"
#include "common/protocol/messages.h"
#include "common/protocol/use_report.h"

/// A message of each kind, with another value in each field.
namespace rdmablk::protocol::samples {

template <typename Array>
Array counting_from(unsigned first) {
  Array array{};
  for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<std::byte>(first + i);
  return array;
}

template <typename Message>
std::vector<std::byte> encode(const Message& message) {
  std::vector<std::byte> buffer(2 * kMaxMessage);
  WireWriter writer(buffer);
  message.encode(writer);
  buffer.resize(writer.ok() ? writer.size() : 0);
  return buffer;
}

inline Hello hello() {
  return {counting_from<InstanceId>(1), Features::from_bits(0x1111), 1, 3, 0x2222};
}

inline HelloReply hello_reply() {
  return {counting_from<InstanceId>(2),
          Features::from_bits(0x3333),
          1,
          Authentication::pre_shared_key,
          8,
          0x4444,
          5000,
          kMaxMessage,
          counting_from<Token>(3)};
}

inline Authenticate authenticate() {
  return {"alice", counting_from<Token>(4), counting_from<Token>(5)};
}

inline AuthenticateReply authenticate_reply() {
  return {counting_from<Token>(6)};
}

inline ExportInfo export_info(std::string name = "disk") {
  return {std::move(name),
          counting_from<Uuid>(4),
          ExportKind::memory,
          true,
          true,
          true,
          true,
          true,
          4096,
          1U << 20U};
}

inline List list() {
  return {"previous"};
}

inline ListReply list_reply() {
  return {{export_info("a"), export_info("b")}, true};
}

inline Attach attach() {
  return {"disk",    Access::read_write,           4,      64,
          1U << 20U, counting_from<Generation>(5), 0x5555, 0x6666};
}

inline ChunkTable chunk_table() {
  return {0x7777, 0x8888, 9, 1U << 24U, 10};
}

inline AttachReply attach_reply() {
  return {export_info(),
          0x9999,
          counting_from<Token>(6),
          counting_from<Nonce>(7),
          Access::read_write,
          4,
          64,
          1U << 20U,
          11,
          counting_from<Generation>(8),
          12,
          chunk_table(),
          "disk.img"};
}

inline Detach detach() {
  return {0xaaaa};
}

inline EventNotice event_notice() {
  return {EventKind::resized, 0xbbbb, 1U << 21U, chunk_table()};
}

inline Table table() {
  return {0x1234, 13, 3};
}

inline TableReply table_reply() {
  return {chunk_table()};
}

inline Reason reason() {
  return {"no such export"};
}

inline QueueReply queue_reply() {
  return {0xcccc, 0xdddd, 32, 136U << 10U, 128U << 10U, 4096};
}

inline UseReport use_report() {
  return {{{0xeeee, {1, 2, 3, 4, 5, 6, 7}}, {0xffff, {UINT64_MAX, 0, 0, 0, 0, 0, 1}}}};
}

}  // namespace rdmablk::protocol::samples
