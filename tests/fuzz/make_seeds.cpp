// Writes the inputs that the fuzzer begins with: real messages and texts. For corpora that are
// made anew, when a format has changed.
//
// Usage: make_seeds DIRECTORY
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "common/protocol/private_data.h"
#include "common/softverbs/cm/wire_message.h"
#include "tests/fuzz/output.h"
#include "tests/unit/common/samples.h"

namespace rdmablk::fuzz {
namespace {

namespace samples = protocol::samples;
using protocol::MessageType;

class Seeds {
 public:
  explicit Seeds(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void target(const std::string& name) {
    target_ = directory_ / name;
    std::filesystem::create_directories(target_);
  }

  void add(const std::string& name, const Output& output) const {
    std::ofstream file(target_ / name, std::ios::binary);
    const auto made = output.made();
    file.write(reinterpret_cast<const char*>(made.data()),
               static_cast<std::streamsize>(made.size()));
    if (!file.flush()) throw std::runtime_error("cannot write a seed");
  }

 private:
  std::filesystem::path directory_;
  std::filesystem::path target_;
};

std::vector<std::byte> message(const protocol::Header& header,
                               std::span<const std::byte> payload = {}) {
  std::vector<std::byte> bytes(protocol::kHeaderSize + payload.size());
  std::ranges::copy(payload, bytes.begin() + protocol::kHeaderSize);
  protocol::finish_message(bytes, header, payload.size());
  return bytes;
}

std::vector<std::byte> request(MessageType type, std::span<const std::byte> payload = {},
                               std::uint64_t tag = 7) {
  return message({type, false, protocol::Status::ok, tag}, payload);
}

std::vector<std::byte> reply(MessageType type, std::span<const std::byte> payload = {},
                             std::uint64_t tag = 7,
                             protocol::Status status = protocol::Status::ok) {
  return message({type, true, status, tag}, payload);
}

std::vector<std::byte> command(std::uint64_t offset, std::uint64_t length, std::uint32_t flags = 0,
                               std::span<const protocol::Range> ranges = {}) {
  std::vector<std::byte> bytes(protocol::kMaxMessage);
  protocol::WireWriter writer(bytes);
  protocol::IoRequest{offset, length, flags, static_cast<std::uint32_t>(ranges.size())}.encode(
      writer);
  for (const protocol::Range& range : ranges) range.encode(writer);
  bytes.resize(writer.size());
  return bytes;
}

std::vector<std::byte> extents(std::span<const protocol::Extent> list) {
  std::vector<std::byte> bytes(protocol::kMaxMessage);
  protocol::WireWriter writer(bytes);
  protocol::encode_extents(writer, list);
  bytes.resize(writer.size());
  return bytes;
}

constexpr std::array kRanges{protocol::Range{0, 512}, protocol::Range{4096, 8192}};
constexpr std::array kExtents{protocol::Extent{4096, false}, protocol::Extent{8192, true}};

void add_admin_messages(Seeds& seeds) {
  seeds.target("admin_messages");
  const auto add = [&](unsigned kind, const std::string& name, const auto& what) {
    seeds.add(name, Output().pick(kind).bytes(samples::encode(what)));
  };
  add(0, "hello", samples::hello());
  add(1, "hello_reply", samples::hello_reply());
  add(2, "authenticate", protocol::Authenticate{"alice", {}, {}});
  add(3, "authenticate_reply", protocol::AuthenticateReply{});
  add(4, "list", samples::list());
  add(5, "list_reply", samples::list_reply());
  add(6, "attach", samples::attach());
  add(7, "attach_reply", samples::attach_reply());
  add(8, "detach", samples::detach());
  add(9, "event", samples::event_notice());
  add(10, "reason", samples::reason());
  const auto attach = samples::encode(samples::attach());
  seeds.add("whole_request", Output().pick(11).bytes(request(MessageType::attach, attach)));
  seeds.add("whole_reply", Output().pick(11).bytes(reply(MessageType::keepalive)));
}

void add_io_messages(Seeds& seeds) {
  constexpr std::uint64_t kSize = 1U << 20U;
  seeds.target("io_messages");
  const auto add = [&](unsigned type, const std::string& name, std::span<const std::byte> what) {
    seeds.add(name, Output().pick(0).pick(type).number(kSize).bytes(what));
  };
  add(0, "read", command(4096, 4096));
  add(1, "write", command(0, kSize, protocol::IoRequest::kDurable));
  add(2, "flush", command(0, 0));
  add(2, "flush_ranges", command(0, 0, protocol::IoRequest::kMore, kRanges));
  add(3, "zero", command(512, 512, 3));
  add(4, "map", command(0, kSize));
  seeds.add("extents", Output().pick(1).bytes(extents(kExtents)));
  seeds.add("queue_reply", Output().pick(2).bytes(samples::encode(samples::queue_reply())));
  seeds.add("chunk_table", Output()
                               .pick(3)
                               .number(std::uint64_t{12288})
                               .number(std::uint64_t{8192})
                               .bytes(samples::encode(protocol::ChunkEntry{0x1000, 5}))
                               .bytes(samples::encode(protocol::ChunkEntry{0x9000, 6})));
}

void add_connection_data(Seeds& seeds) {
  seeds.target("connection_data");
  protocol::QueueRequest request;
  seeds.add("admin_request", Output().pick(0).bytes(request.encode()));
  request = {3, 11, 0x100000002, samples::counting_from<protocol::Nonce>(1),
             samples::counting_from<protocol::Token>(2)};
  seeds.add("queue_request", Output().pick(0).bytes(request.encode()));
  const protocol::QueueRefusal refusal{protocol::Status::stale, "epoch 3 is not the current one"};
  seeds.add("refusal", Output().pick(1).bytes(refusal.encode()));
  softverbs::cm::Message message;
  message.private_data_size = 56;
  message.mtu = IBV_MTU_1024;
  seeds.add("software_device", Output().pick(2).bytes(std::as_bytes(std::span(&message, 1))));
}

constexpr std::string_view kKeys =
    "# who may\n"
    "alice rdmablk-key-1:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
    "rdmablk-key-1:ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

void add_texts(Seeds& seeds) {
  seeds.target("texts");
  int number = 0;
  const auto add = [&](unsigned kind, std::string_view text) {
    seeds.add("text_" + std::to_string(number++), Output().pick(kind).text(text));
  };
  add(0, "1536M");
  add(0, "18446744073709551615");
  add(1, "rdmablk://server.example:10812/disk");
  add(1, "rdmablk://[2001:db8::1]/disk");
  add(2, "192.0.2.1:4000");
  add(3, "[::]:0");
  add(4, "disk=memory:64G,huge=2M,chunk=1G,readonly");
  add(4, "d=file:/srv/a\\,b.img,size=10G,sparse,direct=auto,resident");
  add(5, "ro,allow_other,uid=1000,gid=100,mode=0640,fsname=a\\,b,workers=4,queue_depth=32,spin=10");
  add(5, "_netdev,noauto,x-systemd.automount,noatime");
  add(7, kKeys);
  add(6,
      "36 35 98:0 / /mnt/a\\040b rw,noatime master:1 - ext3 /dev/root rw\n"
      "37 35 0:50 / /x rw - fuse.rdmablk rdmablk://h/disk rw\n");
}

// How target_session.cpp reads what happens.
enum SessionStep {
  kAnything,
  kHello,
  kList,
  kAttach,
  kDetach,
  kConnect,
  kDisconnect,
  kLeave,
  kEndWait,
  kJoin
};

Output& attach(Output& output, unsigned name, bool writes, unsigned again = 0) {
  return output.pick(kAttach)
      .pick(name)
      .pick(writes ? 1 : 0)
      .number(std::uint16_t{2})
      .number(std::uint32_t{4})
      .number(std::uint32_t{4096})
      .pick(again);
}

Output& connect(Output& output, unsigned attachment, std::uint16_t queue, unsigned wrong = 0) {
  return output.pick(kConnect).pick(attachment).number(queue).pick(wrong);
}

Output greeted() {
  return Output().pick(1).pick(1).pick(1).pick(0).pick(0);  // and joins at once
}

void add_target_session(Seeds& seeds) {
  seeds.target("target_session");
  for (unsigned name = 0; name < 5; ++name) {
    for (const bool writes : {false, true}) {
      Output output = greeted();
      attach(output.pick(kList).pick(name), name, writes);
      connect(connect(output, 0, 0), 0, 1).pick(kDisconnect).pick(0);
      connect(output, 0, 0, 1).pick(kDetach).pick(0);
      seeds.add("attach_" + std::to_string(name) + (writes ? "_rw" : "_ro"), output);
    }
  }
  Output writers = greeted();
  attach(attach(writers, 2, true), 2, true, 8).pick(1).pick(kEndWait).pick(0);
  attach(writers, 2, true).pick(kEndWait).pick(1);
  seeds.add("two_writers", writers);
  seeds.add("joins_late",
            Output().pick(1).pick(1).pick(1).pick(1).pick(kList).pick(0).pick(kJoin).pick(0));
  Output again = greeted();
  for (unsigned i = 0; i < 4; ++i) attach(again, i, i % 2 == 0, i);
  attach(again, 0, true, 8).pick(kAnything);
  seeds.add("attach_too_often", again);
  Output leaving = greeted();
  attach(attach(leaving, 2, true).pick(kLeave), 2, true);
  leaving.pick(kAnything).number(std::uint16_t{7}).pick(1).pick(0).pick(1).block({});
  seeds.add("leave", leaving);
  Output raw = greeted();
  raw.pick(kAnything).number(std::uint16_t{4}).pick(0).pick(0).pick(9);
  raw.block(samples::encode(samples::attach()));
  raw.pick(kAnything).number(std::uint16_t{6}).pick(0).pick(0).pick(9).block({});
  seeds.add("raw", raw);
  seeds.add("versions", Output().pick(0).pick(kHello).pick(0x0b).pick(0));
}

// How target_queue.cpp reads what happens.
enum QueueStep { kRaw, kSettle, kComplete, kImmediate, kFail, kOpen, kCommand };

Output& command(Output& output, unsigned type, unsigned slot, std::uint16_t offset,
                std::uint16_t length, unsigned flags = 0, bool alone = true) {
  return output.pick(kCommand)
      .pick(type)
      .pick(slot)
      .pick(alone ? 1 : 0)
      .number(offset)
      .number(length)
      .pick(flags);
}

void add_target_queue(Seeds& seeds) {
  enum { kRead, kWrite, kFlush, kZero, kMap };
  seeds.target("target_queue");
  for (unsigned kind = 0; kind < 2; ++kind) {
    const std::string suffix = kind == 0 ? "" : "_read_only";
    Output output = Output().pick(kind).pick(1);
    command(output, kWrite, 0, 4000, 5000).pick(0x55);
    command(output, kRead, 1, 3000, 8192).pick(0);
    command(output, kZero, 2, 4096, 1024, 3).pick(0);
    command(output, kMap, 3, 0, 60000).pick(100).pick(0);
    command(output, kFlush, 0, 0, 0).pick(0).pick(0);
    seeds.add("one_by_one" + suffix, output);
    Output together = Output().pick(kind).pick(1).pick(kSettle);
    command(together, kWrite, 0, 0, 8192, 1, false).pick(0x11);
    command(together, kWrite, 1, 100, 4096, 0, false).pick(0x22);
    command(together, kZero, 2, 50, 9000, 1, false).pick(0);
    command(together, kRead, 3, 0, 512, 0, false).pick(0).pick(kComplete).pick(kSettle);
    command(together, kMap, 1, 0, 60000, 0, false).pick(3).pick(0);
    seeds.add("together" + suffix, together);
  }
  Output resident = Output().pick(2).pick(1);
  command(resident, kFlush, 0, 0, 0, 4).pick(2);
  resident.number(std::uint16_t{512}).number(std::uint16_t{1024});
  resident.number(std::uint16_t{4096}).number(std::uint16_t{8192}).pick(0x77);
  command(resident, kFlush, 1, 0, 0, 0).pick(0).pick(0);
  command(resident, kMap, 2, 512, 512).pick(1).pick(0);
  seeds.add("resident", resident);
  Output raw = Output().pick(0).pick(1);
  raw.pick(kRaw).block(request(MessageType::read, command(0, 512), 1));
  raw.pick(kRaw).block(request(MessageType::flush, command(0, 0, 0, kRanges), 2));
  seeds.add("raw", raw);
  seeds.add("opened_twice", Output().pick(0).pick(1).pick(kOpen).pick(1).block({}));
  seeds.add("immediate", Output().pick(0).pick(1).pick(kImmediate).number(std::uint32_t{512}));
  seeds.add("flushed", Output().pick(0).pick(1).pick(kFail).pick(1));
}

void add_initiator_queue(Seeds& seeds) {
  enum { kSend, kSendToo, kDone, kRawAnswer, kImmediateAnswer, kAnswer };
  seeds.target("initiator_queue");
  Output output;
  for (unsigned slot = 0; slot < 4; ++slot) output.pick(kSend).pick(slot).pick(slot);
  output.pick(kDone).pick(kDone).pick(kAnswer).pick(0).pick(0).pick(0);
  output.pick(kAnswer).pick(2).pick(1).pick(13).pick(5).text("error");
  output.pick(kDone).pick(kDone).pick(kSend).pick(0).pick(4).pick(kAnswer).pick(0).pick(0);
  const auto list = extents(kExtents);
  output.pick(static_cast<unsigned>(list.size())).bytes(list);
  seeds.add("answered", output);
  seeds.add(
      "raw",
      Output().pick(kSend).pick(1).pick(0).pick(kRawAnswer).block(reply(MessageType::read, {}, 1)));
  seeds.add("not_asked", Output().pick(kAnswer).pick(3).pick(0).pick(0));
  seeds.add("immediate", Output().pick(kImmediateAnswer).number(std::uint32_t{4}));
}

// How initiator_session.cpp reads what a target does.
enum TargetStep { kBlock, kRefuse, kRawMessage, kEvent, kKeepalive, kError, kOther, kWell = 8 };

/// How an initiator begins that reads, and lists first.
Output initiator(bool reads, bool lists) {
  return Output().pick(reads ? 1 : 0).pick(lists ? 1 : 0).pick(0).pick(0);
}

Output& image(Output& output, unsigned kind, bool read_only = false) {
  return output.pick(kind - 1).pick(1).pick(read_only ? 1 : 0);
}

Output& attached(Output& output, unsigned kind, bool reads) {
  return image(output.pick(0).pick(kWell), kind, reads)
      .pick(reads ? 1 : 0)
      .pick(1)
      .pick(1)
      .pick(0)
      .pick(0);
}

void add_initiator_session(Seeds& seeds) {
  seeds.target("initiator_session");
  for (unsigned kind = 1; kind <= 3; ++kind) {
    for (const bool reads : {false, true}) {
      Output output = initiator(reads, true);
      output.pick(0).pick(kWell).pick(0).pick(kWell).pick(1);
      attached(image(output, kind).pick(0), kind, reads).pick(0).pick(0);
      if (kind == 1 || (kind == 3 && reads)) {
        output.bytes(samples::encode(protocol::ChunkEntry{0x100000, 5}));
      } else {
        output.pick(0).pick(kWell).pick(0).pick(0).pick(0);
      }
      output.pick(0).pick(kWell).pick(0);
      seeds.add("kind_" + std::to_string(kind) + (reads ? "_ro" : "_rw"), output);
    }
  }
  Output noise = initiator(false, false);
  noise.pick(0).pick(kKeepalive).pick(3).pick(kEvent).pick(1);
  noise.block(samples::encode(samples::event_notice())).pick(kOther).pick(0).block({});
  noise.pick(kWell).pick(0).pick(kRefuse).pick(6).pick(4).text("busy").pick(0);
  seeds.add("noise", noise);
  Output error = initiator(false, false);
  error.pick(0).pick(kWell).pick(0).pick(kError).pick(4).text("gone");
  seeds.add("error", error);
  Output raw = initiator(false, false);
  raw.pick(0)
      .pick(kRawMessage)
      .block(reply(MessageType::hello, samples::encode(samples::hello_reply()), 1));
  seeds.add("raw", raw);
  const protocol::QueueRefusal refusal{protocol::Status::limit, "too many sessions"};
  seeds.add("rejected", Output().pick(0).pick(0).pick(0).pick(0xff).bytes(refusal.encode()));
}

void add_all(const std::filesystem::path& directory) {
  Seeds seeds(directory);
  add_admin_messages(seeds);
  add_io_messages(seeds);
  add_connection_data(seeds);
  add_texts(seeds);
  add_target_session(seeds);
  add_target_queue(seeds);
  add_initiator_queue(seeds);
  add_initiator_session(seeds);
}

}  // namespace
}  // namespace rdmablk::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  try {
    rdmablk::fuzz::add_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
