#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/export_name.h"
#include "common/protocol/features.h"
#include "common/protocol/header.h"
#include "common/protocol/wire.h"

/// The payloads of the admin queue's messages. Each has encode(), which writes it after a header,
/// and decode(), which checks what a peer sent and gives nothing for anything that is out of
/// bounds. Integers are little-endian; `docs/protocol.md` has the bytes.
namespace rdmablk::protocol {

using Uuid = std::array<std::byte, 16>;
using InstanceId = std::array<std::byte, 16>;
using Generation = std::array<std::byte, 16>;
using Token = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 8>;

enum class ExportKind : std::uint8_t { memory = 1, file = 2, resident = 3 };
enum class Access : std::uint8_t { read_only = 0, read_write = 1 };

/// The first message of an initiator.
struct Hello {
  InstanceId instance{};          ///< random, the same for a session and those that resume it
  Features features;              ///< that the initiator knows
  std::uint16_t version_min = 0;  ///< versions of the protocol that it speaks
  std::uint16_t version_max = 0;
  std::uint64_t resume_session = 0;  ///< reserved

  void encode(WireWriter& writer) const;
  static std::optional<Hello> decode(std::span<const std::byte> payload);
};

/// What a target asks for between HELLO and everything else.
enum class Authentication : std::uint16_t {
  none = 0,
  pre_shared_key = 1,  ///< AUTHENTICATE, with HMAC-SHA256
};

struct HelloReply {
  InstanceId target{};
  Features features;  ///< that both know
  std::uint16_t version = 0;
  Authentication authentication = Authentication::none;
  std::uint16_t credits = 0;  ///< requests that may be unanswered
  std::uint64_t session = 0;
  std::uint32_t keepalive_ms = 0;  ///< how often to send KEEPALIVE; 0: not at all
  std::uint32_t max_message = 0;   ///< bytes
  Token nonce{};                   ///< random, for AUTHENTICATE

  void encode(WireWriter& writer) const;
  static std::optional<HelloReply> decode(std::span<const std::byte> payload);
};

/// An initiator says who it is, and proves that it has the client's key.
struct Authenticate {
  std::string client;  ///< its name, of the form of an export's
  Token nonce{};       ///< random
  Token proof{};       ///< an HMAC over what was said so far

  void encode(WireWriter& writer) const;
  static std::optional<Authenticate> decode(std::span<const std::byte> payload);
};

/// The target proves that it has the client's key, too.
struct AuthenticateReply {
  Token proof{};

  void encode(WireWriter& writer) const;
  static std::optional<AuthenticateReply> decode(std::span<const std::byte> payload);
};

/// An export as LIST and ATTACH show it.
struct ExportInfo {
  std::string name;
  Uuid uuid{};
  ExportKind kind = ExportKind::memory;
  bool read_only = false;
  bool is_direct = false;        ///< its file is read and written past the page cache
  bool needs_flush = false;      ///< a write is on stable storage only when it has been flushed
  bool can_discard = false;      ///< zeroing may give space back
  bool is_shared = false;        ///< any number of initiators may write to it at a time
  std::uint32_t block_size = 0;  ///< bytes; the alignment that is served best
  std::uint64_t size = 0;        ///< bytes, a multiple of 512

  void encode(WireWriter& writer) const;
  /// Reads one from the middle of a payload. @return whether it is in bounds.
  bool decode(WireReader& reader);
};

/// Asks for the exports whose names come after `after`, in the order of bytes.
struct List {
  std::string after;  ///< empty: from the first

  void encode(WireWriter& writer) const;
  static std::optional<List> decode(std::span<const std::byte> payload);
};

struct ListReply {
  /// The most that fit in one message.
  static constexpr std::size_t kMaxEntries = 40;

  std::vector<ExportInfo> exports;
  bool more = false;  ///< ask again, after the last of these

  void encode(WireWriter& writer) const;
  static std::optional<ListReply> decode(std::span<const std::byte> payload);
};

struct Attach {
  /// Flag: fence whoever holds the lease, and take it over.
  static constexpr std::uint32_t kTakeOver = 1;

  std::string name;
  Access access = Access::read_only;
  std::uint16_t queues = 0;  ///< I/O queues that it wants
  std::uint32_t depth = 0;   ///< requests in flight a queue
  std::uint32_t max_io = 0;  ///< bytes of its largest request
  Generation generation{};   ///< what it was attached to before; zero: nothing, or any will do
  std::uint64_t lease = 0;   ///< the number of the lease that it held; zero: none
  std::uint32_t flags = 0;

  void encode(WireWriter& writer) const;
  static std::optional<Attach> decode(std::span<const std::byte> payload);
};

/// Where the chunk table lies: `count` entries of ChunkEntry, to be READ.
struct ChunkTable {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t count = 0;
  std::uint64_t chunk_size = 0;  ///< bytes of every chunk but the last, which ends with the export
  std::uint64_t number = 0;      ///< of this table; a resize publishes another
};

struct AttachReply {
  ExportInfo info;
  std::uint64_t attachment = 0;
  Token token{};
  Nonce nonce{};
  Access access = Access::read_only;
  std::uint16_t queues = 0;  ///< granted
  std::uint32_t depth = 0;
  std::uint32_t max_io = 0;
  std::uint32_t epoch = 0;  ///< that the first connection of each I/O queue has
  Generation generation{};
  std::uint64_t lease = 0;  ///< its number; zero: it needs none
  ChunkTable table;         ///< of a kind that is served one-sided
  std::string origin;       ///< for people, as Reason: the name of its file; may be empty

  void encode(WireWriter& writer) const;
  static std::optional<AttachReply> decode(std::span<const std::byte> payload);
};

struct Detach {
  std::uint64_t attachment = 0;

  void encode(WireWriter& writer) const;
  static std::optional<Detach> decode(std::span<const std::byte> payload);
};

enum class EventKind : std::uint16_t {
  shutting_down = 1,
  resized = 2,
};

/// What a target says unasked; the initiator replies with an empty payload. What follows the kind
/// belongs to `resized`, and is zero in others.
struct EventNotice {
  EventKind kind{};
  std::uint64_t attachment = 0;  ///< zero: all
  std::uint64_t size = 0;        ///< the export's new size, in bytes, a multiple of 512
  ChunkTable table;              ///< the new table, as in AttachReply

  void encode(WireWriter& writer) const;
  static std::optional<EventNotice> decode(std::span<const std::byte> payload);
};

/// Asks where a chunk table lies on the device that an I/O queue is connected over.
struct Table {
  std::uint64_t attachment = 0;
  std::uint64_t number = 0;  ///< of the table, as ATTACH or EVENT told
  std::uint16_t queue = 0;   ///< one of that attachment

  void encode(WireWriter& writer) const;
  static std::optional<Table> decode(std::span<const std::byte> payload);
};

struct TableReply {
  ChunkTable table;

  void encode(WireWriter& writer) const;
  static std::optional<TableReply> decode(std::span<const std::byte> payload);
};

/// One entry of a chunk table, in registered memory.
struct ChunkEntry {
  static constexpr std::size_t kSize = 16;

  std::uint64_t address = 0;
  std::uint32_t rkey = 0;

  void encode(WireWriter& writer) const;
  void decode(WireReader& reader);
};

/// The payload of every reply whose status is not ok, and of ERROR: one line for people.
struct Reason {
  static constexpr std::size_t kMaxText = 1024;

  std::string text;

  /// A text that is too long is cut.
  void encode(WireWriter& writer) const;
  /// Control characters become '?': the text goes to a terminal.
  static std::optional<Reason> decode(std::span<const std::byte> payload);
};

}  // namespace rdmablk::protocol
