// The initiator's end of messages on an I/O queue: any replies of a target. Only what answers a
// command reaches the queue, each command ends once, and receives are posted for what may come.
#include <vector>

#include "initiator/command_channel.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scripted_device.h"

namespace rdmablk::fuzz {
namespace {

using initiator::CommandChannel;
using protocol::MessageType;
using protocol::Status;

constexpr unsigned kCommands = 4;

verbs::QueuePairOptions queue_pair_options() {
  verbs::QueuePairOptions options;
  options.send_requests = kCommands;
  options.receive_requests = kCommands;
  return options;
}

class Queue final : private initiator::CommandHandler {
 public:
  explicit Queue(Input& input) : input_(input) { channel_.start(qp_); }

  void run() {
    while (!input_.empty() && !failed_) step();
    if (failed_) return;
    std::size_t waiting = 0;
    for (const Command& command : commands_) waiting += command.is_waiting ? 1 : 0;
    require(peer().receives() >= waiting, "a receive is posted for every reply that may come");
  }

 private:
  struct Command {
    MessageType type{};
    bool is_waiting = false;
    bool is_sending = false;
  };

  ScriptedQueuePair& peer() { return scripted(qp_.get()); }

  void step() {
    switch (input_.choice(6)) {
      case 0:
      case 1:
        return command();
      case 2:
        return complete_send();
      case 3:
        return answer_anything();
      case 4:
        peer().deliver_immediate(input_.number<std::uint32_t>());
        return poll();
      default:
        return answer();
    }
  }

  void command() {
    const unsigned slot = input_.choice(kCommands);
    Command& command = commands_[slot];
    require(channel_.is_free(slot) == (!command.is_waiting && !command.is_sending),
            "a slot is free when its command has ended");
    if (!channel_.is_free(slot)) return;
    command = {
        static_cast<MessageType>(static_cast<unsigned>(MessageType::read) + input_.choice(6)), true,
        true};
    initiator::SendBatch batch;
    channel_.add(batch, slot, command.type, protocol::IoRequest{});
    require(batch.post(qp_) == 0, "a command can be sent");
    sending_.push_back(slot);
  }

  void complete_send() {
    if (!peer().complete_send()) return;
    // The device ends them in their order.
    commands_[sending_.front()].is_sending = false;
    sending_.erase(sending_.begin());
    poll();
  }

  void answer_anything() {
    const auto message = input_.block();
    if (message.size() <= protocol::kMaxMessage) deliver(message);
  }

  void answer() {
    protocol::Header header;
    header.is_reply = true;
    header.tag = input_.choice(kCommands + 1);
    const auto wrong = input_.number();
    if (header.tag < kCommands) header.type = commands_[header.tag].type;
    if ((wrong & 1U) != 0) header.status = static_cast<Status>(input_.number());
    if ((wrong & 2U) != 0) header.type = static_cast<MessageType>(32 + input_.choice(6));
    if ((wrong & 4U) != 0) header.is_reply = false;
    makes_sense_ = (wrong & 8U) == 0;
    const auto payload = input_.bytes(input_.number());
    std::vector<std::byte> message(protocol::kHeaderSize + payload.size());
    std::ranges::copy(payload, message.begin() + protocol::kHeaderSize);
    protocol::finish_message(message, header, payload.size());
    deliver(message);
  }

  void deliver(std::span<const std::byte> bytes) {
    const auto message = protocol::decode_message(bytes);
    expects_ = message && message->header.is_reply && message->header.tag < kCommands &&
               commands_[message->header.tag].is_waiting &&
               commands_[message->header.tag].type == message->header.type;
    if (!peer().deliver(bytes)) return;
    poll();
    require(failed_ == !(expects_ && makes_sense_) || !took_, "what nothing waits for ends it");
    makes_sense_ = true;
  }

  void poll() {
    took_ = false;
    ibv_wc completion{};
    while (!failed_ && cq_.poll({&completion, 1}) == 1) {
      took_ = true;
      require(CommandChannel::owns(completion), "completions are those of the channel");
      failed_ = channel_.complete(completion, *this) != nullptr;
    }
  }

  bool on_reply(unsigned slot, Status /*status*/,
                std::span<const std::byte> payload) noexcept override {
    require(slot < kCommands && commands_[slot].is_waiting && expects_, "a reply was waited for");
    require(payload.size() <= protocol::kMaxMessage - protocol::kHeaderSize, "it has a payload");
    commands_[slot].is_waiting = false;
    return makes_sense_;
  }

  void on_free(unsigned slot) noexcept override {
    require(!commands_[slot].is_waiting && !commands_[slot].is_sending && channel_.is_free(slot),
            "a slot becomes free when both have ended");
  }

  Input& input_;
  verbs::ProtectionDomain pd_{scripted_context()};
  verbs::CompletionQueue cq_{scripted_context(), 2 * kCommands, nullptr};
  CommandChannel channel_{pd_, kCommands};
  verbs::QueuePair qp_ = verbs::make_queue_pair(pd_, cq_, queue_pair_options());
  std::array<Command, kCommands> commands_;
  std::vector<unsigned> sending_;  ///< slots, in the order of their SENDs
  bool expects_ = false;           ///< the reply that is on its way answers a command
  bool makes_sense_ = true;        ///< to the queue above
  bool took_ = false;
  bool failed_ = false;
};

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  rdmablk::fuzz::Queue(input).run();
  return 0;
}
