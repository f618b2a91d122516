// Real messages.
#include "common/cm/tcp/exchange.h"
#include "common/protocol/private_data.h"
#include "common/softverbs/cm/wire_message.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/whole_messages.h"
#include "tests/unit/common/samples.h"

namespace rdmablk::fuzz {

namespace samples = protocol::samples;

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
  add(9, "event_end", protocol::EventNotice{.kind = protocol::EventKind::shutting_down});
  add(10, "reason", samples::reason());
  add(12, "use_report", samples::use_report());
  add(13, "table", samples::table());
  add(14, "table_reply", samples::table_reply());
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

void add_tcp_exchange(Seeds& seeds) {
  using namespace cm::tcp;
  seeds.target("tcp_exchange");
  Endpoint endpoint;
  endpoint.queue_pair = 17;
  endpoint.packet = 0x12'3456;
  endpoint.link_layer = IBV_LINK_LAYER_ETHERNET;
  endpoint.gid_type = IBV_GID_TYPE_ROCE_V2;
  endpoint.mtu = IBV_MTU_1024;
  const std::vector<std::byte> data(56, std::byte{7});
  const auto add = [&](unsigned kind, const std::string& name, const auto& message) {
    const auto whole = encode(message);
    seeds.add(name, Output().pick(kind).bytes(std::span(whole).subspan(Header::kSize)));
    seeds.add(name + "_greets", Output().pick(5).block(whole));
    const auto half = std::span(whole).first(whole.size() / 2);
    seeds.add(name + "_in_pieces",
              Output().pick(5).block(half).block(std::span(whole).subspan(half.size())));
  };
  add(1, "request", Request{endpoint, data});
  add(2, "accept", Accept{endpoint});
  add(3, "reject", Reject{Reject::By::connection, data});
  add(4, "ready", Ready{});
  seeds.add("header", Output().pick(0).bytes(encode(Ready{})));
}

}  // namespace rdmablk::fuzz
