#include "common/protocol/private_data.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/whole_messages.h"
#include "tests/unit/common/samples.h"

namespace rdmablk::fuzz {
namespace {

namespace samples = protocol::samples;

// How initiator_session.cpp reads what a target does.
enum TargetStep { kBlock, kRefuse, kRawMessage, kEvent, kKeepalive, kError, kOther, kWell = 8 };

/// How an initiator begins that reads, lists first, and has a key.
Output initiator(bool reads, bool lists, bool has_key) {
  return Output().pick(reads ? 1 : 0).pick(lists ? 1 : 0).pick(has_key ? 1 : 0).pick(0).pick(0);
}

/// HELLO is sent, and answered. @param wish see ScriptedTarget::authentication().
Output& greets(Output& output, unsigned wish = 0) {
  return output.pick(0).pick(kWell).pick(wish);
}

/// AUTHENTICATE, too. @param wrong see GreetingWitness::proof().
Output& proves(Output& output, unsigned wrong = 0) {
  return greets(output).pick(0).pick(kWell).pick(wrong);
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

void add_hostile_targets(Seeds& seeds) {
  const auto add = [&](const std::string& name, bool has_key, unsigned wish) {
    Output output = initiator(true, true, has_key);
    seeds.add(name, greets(output, wish).pick(0).pick(kWell).pick(1));
  };
  add("asks_for_nothing", true, 1);
  add("asks_without_key", false, 1);
  add("asks_for_something_else", true, 6);
  for (const unsigned wrong : {1U, 2U, 4U}) {
    Output output = initiator(true, true, true);
    proves(output, wrong).pick(0).pick(kWell).pick(1);
    seeds.add("target_proof_wrong_" + std::to_string(wrong), output);
  }
  Output refused = initiator(true, true, true);
  greets(refused).pick(0).pick(kRefuse).pick(12).pick(4).text("away");
  seeds.add("unauthorized", refused);
}

}  // namespace

void add_initiator_session(Seeds& seeds) {
  seeds.target("initiator_session");
  for (unsigned kind = 1; kind <= 3; ++kind) {
    for (const bool reads : {false, true}) {
      const bool has_key = kind == 2 || reads;
      Output output = initiator(reads, true, has_key);
      (has_key ? proves(output) : greets(output)).pick(0).pick(kWell).pick(1);
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
  add_hostile_targets(seeds);
  Output noise = initiator(false, false, false);
  noise.pick(0).pick(kKeepalive).pick(3).pick(kEvent).pick(1);
  noise.block(samples::encode(samples::event_notice())).pick(kOther).pick(0).block({});
  noise.pick(kWell).pick(0).pick(0).pick(kRefuse).pick(6).pick(4).text("busy").pick(0);
  seeds.add("noise", noise);
  Output error = initiator(false, false, false);
  greets(error).pick(0).pick(kError).pick(4).text("gone");
  seeds.add("error", error);
  Output raw = initiator(false, false, false);
  raw.pick(0)
      .pick(kRawMessage)
      .block(reply(MessageType::hello, samples::encode(samples::hello_reply()), 1));
  seeds.add("raw", raw);
  const protocol::QueueRefusal refusal{protocol::Status::limit, "too many sessions"};
  seeds.add("rejected",
            Output().pick(0).pick(0).pick(0).pick(0).pick(0xff).bytes(refusal.encode()));
}

}  // namespace rdmablk::fuzz
