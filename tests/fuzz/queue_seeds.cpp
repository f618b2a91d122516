#include "tests/fuzz/seeds.h"
#include "tests/fuzz/whole_messages.h"

namespace rdmablk::fuzz {
namespace {

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

}  // namespace

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

}  // namespace rdmablk::fuzz
