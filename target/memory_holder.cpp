#include "target/memory_holder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <asio/signal_set.hpp>
#include <csignal>

#include "common/error.h"

namespace rdmablk::target {
namespace {

class Holder final : private SuccessionHandler {
 public:
  explicit Holder(std::vector<MemoryRecord> records) : records_(std::move(records)) {}

  /// Waits for a process that can have the memory. @return nothing when a signal came first.
  std::optional<Successor> await() {
    asio::io_context io{1};
    io_ = &io;
    std::signal(SIGHUP, SIG_IGN);  // to read the keys again is of no use here
    asio::signal_set signals(io, SIGTERM, SIGINT);
    signals.async_wait([&](const asio::error_code& error, int /*signal*/) {
      if (!error) io.stop();
    });
    SuccessionHandler& handler = *this;
    const SuccessionListener listener(io, handler);
    io.run();
    return std::move(successor_);
  }

 private:
  std::optional<std::string> refuse_successor(const SuccessionRequest& request) override {
    return reason_against(request, records_);
  }
  void on_successor(Successor successor) override {
    successor_.emplace(std::move(successor));
    io_->stop();
  }

  std::vector<MemoryRecord> records_;
  asio::io_context* io_ = nullptr;
  std::optional<Successor> successor_;
};

std::vector<MemoryRecord> records_of(std::span<const KeptMemory> memory) {
  std::vector<MemoryRecord> records;
  for (const KeptMemory& one : memory) records.push_back(one.record.record());
  return records;
}

std::string names_of(std::span<const KeptMemory> memory) {
  std::string names;
  for (const KeptMemory& one : memory) {
    names += (names.empty() ? "" : ", ") + text_of(one.record.record().name);
  }
  return names;
}

}  // namespace

void hand_over(std::vector<KeptMemory> memory, Successor successor) {
  while (!successor.pass(memory)) {
    if (memory.empty()) {
      throw Error(
          fmt::format("the successor, process {}, has ended before it served", successor.pid()));
    }
    spdlog::error(
        "the successor, process {}, has ended before it served: this process serves nothing any "
        "more, and holds the memory of {} for another one: rdmablk-target --succeed {}",
        successor.pid(), names_of(memory), ::getpid());
    auto next = Holder(records_of(memory)).await();
    if (!next) {
      throw Error(
          fmt::format("a signal has ended the wait for a successor: the memory of {} is lost",
                      names_of(memory)));
    }
    successor = std::move(*next);
  }
  spdlog::info("process {} has taken over", successor.pid());
}

}  // namespace rdmablk::target
