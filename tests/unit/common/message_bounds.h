#pragma once

#include <algorithm>
#include <bit>

#include "common/export_name.h"
#include "common/protocol/io_messages.h"
#include "common/protocol/messages.h"
#include "common/protocol/use_report.h"
#include "common/units.h"

/// Whether a message that was accepted is within the bounds that its reader relies on.
namespace rdmablk::protocol {

inline bool is_in_bounds(const Hello& hello) {
  return hello.version_min <= hello.version_max;
}

inline bool is_in_bounds(const HelloReply& reply) {
  return reply.credits > 0;
}

inline bool is_in_bounds(const Authenticate& request) {
  return is_export_name(request.client);
}

inline bool is_in_bounds(const ExportInfo& info) {
  return is_export_name(info.name) && info.kind >= ExportKind::memory &&
         info.kind <= ExportKind::resident && info.block_size > 0 && info.size > 0 &&
         info.size % kSectorSize == 0 && info.size <= INT64_MAX;
}

inline bool is_in_bounds(const List& list) {
  return list.after.empty() || is_export_name(list.after);
}

inline bool is_in_bounds(const ListReply& reply) {
  return reply.exports.size() <= ListReply::kMaxEntries &&
         (!reply.more || !reply.exports.empty()) &&
         std::all_of(reply.exports.begin(), reply.exports.end(),
                     [](const ExportInfo& info) { return is_in_bounds(info); });
}

inline bool is_in_bounds(const Attach& attach) {
  return is_export_name(attach.name) && attach.access <= Access::read_write;
}

inline bool is_in_bounds(const AttachReply& reply) {
  return is_in_bounds(reply.info) && reply.access <= Access::read_write && reply.queues > 0 &&
         reply.depth > 0 && reply.max_io > 0;
}

inline bool is_in_bounds(const Detach& /*detach*/) {
  return true;
}

inline bool is_in_bounds(const EventNotice& event) {
  if (event.kind == EventKind::shutting_down) return true;
  return event.kind == EventKind::resized && event.attachment != 0 && event.size > 0 &&
         event.size % kSectorSize == 0 && event.size <= INT64_MAX;
}

inline bool is_in_bounds(const Table& /*request*/) {
  return true;
}

inline bool is_in_bounds(const TableReply& /*reply*/) {
  return true;
}

inline bool is_in_bounds(const UseReport& report) {
  return report.entries.size() <= UseReport::kMaxEntries;
}

inline bool is_in_bounds(const Reason& reason) {
  return reason.text.size() <= Reason::kMaxText &&
         std::all_of(reason.text.begin(), reason.text.end(),
                     [](char c) { return c >= ' ' && c < 0x7f; });
}

inline bool is_in_bounds(const QueueReply& reply) {
  return reply.commands > 0 && std::has_single_bit(reply.alignment) && reply.alignment <= 65536;
}

}  // namespace rdmablk::protocol
