#include "common/protocol/messages.h"

#include <algorithm>

#include "common/units.h"

namespace rdmablk::protocol {
namespace {

constexpr std::size_t kNameField = 64;
constexpr std::uint8_t kExportReadOnly = 1;
constexpr std::uint8_t kExportDirect = 2;
constexpr std::uint8_t kExportNeedsFlush = 4;
constexpr std::uint8_t kExportCanDiscard = 8;
constexpr std::uint8_t kExportShared = 16;

/// A payload ends where its last field ends: longer ones come from a peer that means something
/// else.
template <typename T>
std::optional<T> whole(const WireReader& reader, T value) {
  if (!reader.ok() || !reader.rest().empty()) return std::nullopt;
  return value;
}

template <typename Enum>
bool get_enum(WireReader& reader, Enum& value, Enum first, Enum last) {
  std::underlying_type_t<Enum> raw = 0;
  reader.get(raw);
  value = static_cast<Enum>(raw);
  return raw >= static_cast<std::underlying_type_t<Enum>>(first) &&
         raw <= static_cast<std::underlying_type_t<Enum>>(last);
}

void put_table(WireWriter& writer, const ChunkTable& table) {
  writer.put(table.address);
  writer.put(table.rkey);
  writer.put(table.count);
  writer.put(table.chunk_size);
  writer.put(table.number);
}

void get_table(WireReader& reader, ChunkTable& table) {
  reader.get(table.address);
  reader.get(table.rkey);
  reader.get(table.count);
  reader.get(table.chunk_size);
  reader.get(table.number);
}

bool is_export_size(std::uint64_t size) {
  return size != 0 && size % kSectorSize == 0 && size <= INT64_MAX;
}

std::uint8_t flags_of(const ExportInfo& info) {
  unsigned flags = 0;
  if (info.read_only) flags |= kExportReadOnly;
  if (info.is_direct) flags |= kExportDirect;
  if (info.needs_flush) flags |= kExportNeedsFlush;
  if (info.can_discard) flags |= kExportCanDiscard;
  if (info.is_shared) flags |= kExportShared;
  return static_cast<std::uint8_t>(flags);
}

void get_features(WireReader& reader, Features& features) {
  std::uint64_t bits = 0;
  reader.get(bits);
  features = Features::from_bits(bits);
}

}  // namespace

void Hello::encode(WireWriter& writer) const {
  writer.put(std::span<const std::byte>(instance));
  writer.put(features.bits());
  writer.put(version_min);
  writer.put(version_max);
  writer.pad(4);
  writer.put(resume_session);
}

std::optional<Hello> Hello::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  Hello hello;
  reader.get(std::span<std::byte>(hello.instance));
  get_features(reader, hello.features);
  reader.get(hello.version_min);
  reader.get(hello.version_max);
  reader.skip(4);
  reader.get(hello.resume_session);
  if (hello.version_min > hello.version_max) return std::nullopt;
  return whole(reader, hello);
}

void HelloReply::encode(WireWriter& writer) const {
  writer.put(std::span<const std::byte>(target));
  writer.put(features.bits());
  writer.put(version);
  writer.put(static_cast<std::uint16_t>(authentication));
  writer.put(credits);
  writer.pad(2);
  writer.put(session);
  writer.put(keepalive_ms);
  writer.put(max_message);
  writer.put(std::span<const std::byte>(nonce));
}

std::optional<HelloReply> HelloReply::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  HelloReply reply;
  reader.get(std::span<std::byte>(reply.target));
  get_features(reader, reply.features);
  reader.get(reply.version);
  const bool known =
      get_enum(reader, reply.authentication, Authentication::none, Authentication::pre_shared_key);
  reader.get(reply.credits);
  reader.skip(2);
  reader.get(reply.session);
  reader.get(reply.keepalive_ms);
  reader.get(reply.max_message);
  reader.get(std::span<std::byte>(reply.nonce));
  if (!known || reply.credits == 0) return std::nullopt;
  return whole(reader, reply);
}

void Authenticate::encode(WireWriter& writer) const {
  writer.put_text(client, kNameField);
  writer.put(std::span<const std::byte>(nonce));
  writer.put(std::span<const std::byte>(proof));
}

std::optional<Authenticate> Authenticate::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  Authenticate request;
  reader.get_text(request.client, kNameField);
  reader.get(std::span<std::byte>(request.nonce));
  reader.get(std::span<std::byte>(request.proof));
  if (!is_export_name(request.client)) return std::nullopt;
  return whole(reader, std::move(request));
}

void AuthenticateReply::encode(WireWriter& writer) const {
  writer.put(std::span<const std::byte>(proof));
}

std::optional<AuthenticateReply> AuthenticateReply::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  AuthenticateReply reply;
  reader.get(std::span<std::byte>(reply.proof));
  return whole(reader, reply);
}

void ExportInfo::encode(WireWriter& writer) const {
  writer.put_text(name, kNameField);
  writer.put(std::span<const std::byte>(uuid));
  writer.put(static_cast<std::uint8_t>(kind));
  writer.put(flags_of(*this));
  writer.pad(2);
  writer.put(block_size);
  writer.put(size);
}

bool ExportInfo::decode(WireReader& reader) {
  reader.get_text(name, kNameField);
  reader.get(std::span<std::byte>(uuid));
  const bool known = get_enum(reader, kind, ExportKind::memory, ExportKind::resident);
  std::uint8_t flags = 0;
  reader.get(flags);
  read_only = (flags & kExportReadOnly) != 0;
  is_direct = (flags & kExportDirect) != 0;
  needs_flush = (flags & kExportNeedsFlush) != 0;
  can_discard = (flags & kExportCanDiscard) != 0;
  is_shared = (flags & kExportShared) != 0;
  reader.skip(2);
  reader.get(block_size);
  reader.get(size);
  return reader.ok() && known && is_export_name(name) && is_export_size(size) && block_size != 0;
}

void List::encode(WireWriter& writer) const {
  writer.put_text(after, kNameField);
}

std::optional<List> List::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  List list;
  reader.get_text(list.after, kNameField);
  if (!list.after.empty() && !is_export_name(list.after)) return std::nullopt;
  return whole(reader, list);
}

void ListReply::encode(WireWriter& writer) const {
  writer.put(static_cast<std::uint16_t>(exports.size()));
  writer.put(more ? std::uint8_t{1} : std::uint8_t{0});
  writer.pad(5);
  for (const ExportInfo& info : exports) info.encode(writer);
}

std::optional<ListReply> ListReply::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  ListReply reply;
  std::uint16_t count = 0;
  std::uint8_t more = 0;
  reader.get(count);
  reader.get(more);
  reader.skip(5);
  // A page without an entry that promises more would be asked for until the end of time.
  if (count > kMaxEntries || (more != 0 && count == 0)) return std::nullopt;
  reply.more = more != 0;
  reply.exports.resize(count);
  const bool valid = std::all_of(reply.exports.begin(), reply.exports.end(),
                                 [&](ExportInfo& info) { return info.decode(reader); });
  if (!valid) return std::nullopt;
  return whole(reader, std::move(reply));
}

void Attach::encode(WireWriter& writer) const {
  writer.put_text(name, kNameField);
  writer.put(static_cast<std::uint8_t>(access));
  writer.pad(1);
  writer.put(queues);
  writer.put(depth);
  writer.put(max_io);
  writer.put(flags);
  writer.put(std::span<const std::byte>(generation));
  writer.put(lease);
}

std::optional<Attach> Attach::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  Attach attach;
  reader.get_text(attach.name, kNameField);
  const bool known = get_enum(reader, attach.access, Access::read_only, Access::read_write);
  reader.skip(1);
  reader.get(attach.queues);
  reader.get(attach.depth);
  reader.get(attach.max_io);
  reader.get(attach.flags);
  reader.get(std::span<std::byte>(attach.generation));
  reader.get(attach.lease);
  if (!known || !is_export_name(attach.name)) return std::nullopt;
  return whole(reader, std::move(attach));
}

void AttachReply::encode(WireWriter& writer) const {
  info.encode(writer);
  writer.put(attachment);
  writer.put(std::span<const std::byte>(token));
  writer.put(std::span<const std::byte>(nonce));
  writer.put(static_cast<std::uint8_t>(access));
  writer.pad(1);
  writer.put(queues);
  writer.put(depth);
  writer.put(max_io);
  writer.put(epoch);
  writer.put(std::span<const std::byte>(generation));
  writer.put(lease);
  put_table(writer, table);
  const auto text = std::string_view(origin).substr(0, Reason::kMaxText);
  writer.put(static_cast<std::uint16_t>(text.size()));
  Reason{std::string(text)}.encode(writer);
}

std::optional<AttachReply> AttachReply::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  AttachReply reply;
  if (!reply.info.decode(reader)) return std::nullopt;
  reader.get(reply.attachment);
  reader.get(std::span<std::byte>(reply.token));
  reader.get(std::span<std::byte>(reply.nonce));
  const bool known = get_enum(reader, reply.access, Access::read_only, Access::read_write);
  reader.skip(1);
  reader.get(reply.queues);
  reader.get(reply.depth);
  reader.get(reply.max_io);
  reader.get(reply.epoch);
  reader.get(std::span<std::byte>(reply.generation));
  reader.get(reply.lease);
  get_table(reader, reply.table);
  std::uint16_t length = 0;
  reader.get(length);
  const auto origin = Reason::decode(reader.rest());
  if (!origin || origin->text.size() != length) return std::nullopt;
  reply.origin = origin->text;
  if (!known || reply.queues == 0 || reply.depth == 0 || reply.max_io == 0) return std::nullopt;
  if (!reader.ok()) return std::nullopt;
  return reply;
}

void Detach::encode(WireWriter& writer) const {
  writer.put(attachment);
}

std::optional<Detach> Detach::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  Detach detach;
  reader.get(detach.attachment);
  return whole(reader, detach);
}

void EventNotice::encode(WireWriter& writer) const {
  writer.put(static_cast<std::uint16_t>(kind));
  writer.pad(6);
  writer.put(attachment);
  writer.put(size);
  put_table(writer, table);
}

std::optional<EventNotice> EventNotice::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  EventNotice event;
  const bool known = get_enum(reader, event.kind, EventKind::shutting_down, EventKind::resized);
  reader.skip(6);
  reader.get(event.attachment);
  reader.get(event.size);
  get_table(reader, event.table);
  if (!known) return std::nullopt;
  if (event.kind == EventKind::resized && (event.attachment == 0 || !is_export_size(event.size))) {
    return std::nullopt;
  }
  return whole(reader, event);
}

void Table::encode(WireWriter& writer) const {
  writer.put(attachment);
  writer.put(number);
  writer.put(queue);
  writer.pad(6);
}

std::optional<Table> Table::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  Table request;
  reader.get(request.attachment);
  reader.get(request.number);
  reader.get(request.queue);
  reader.skip(6);
  return whole(reader, request);
}

void TableReply::encode(WireWriter& writer) const {
  put_table(writer, table);
}

std::optional<TableReply> TableReply::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  TableReply reply;
  get_table(reader, reply.table);
  return whole(reader, reply);
}

void ChunkEntry::encode(WireWriter& writer) const {
  writer.put(address);
  writer.put(rkey);
  writer.pad(4);
}

void ChunkEntry::decode(WireReader& reader) {
  reader.get(address);
  reader.get(rkey);
  reader.skip(4);
}

void Reason::encode(WireWriter& writer) const {
  writer.put(std::as_bytes(std::span(text).first(std::min(text.size(), kMaxText))));
}

std::optional<Reason> Reason::decode(std::span<const std::byte> payload) {
  if (payload.size() > kMaxText) return std::nullopt;
  Reason reason;
  std::transform(payload.begin(), payload.end(), std::back_inserter(reason.text),
                 [](std::byte byte) {
                   const char c = std::to_integer<char>(byte);
                   return c >= ' ' && c < 0x7f ? c : '?';
                 });
  return reason;
}

}  // namespace rdmablk::protocol
