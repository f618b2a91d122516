#include "tests/softverbs/verbs/lent_memory.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace softverbs::test {

std::string mapped_with() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(kSharedName) != std::string::npos) return line.substr(line.find(' ') + 1, 4);
  }
  return {};
}

bool becomes_unmapped() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!mapped_with().empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return mapped_with().empty();
}

ChildProcess make_responder(const Kind& kind, int access,
                            const std::function<void(Wire&, End&, SharedMemory&)>& after) {
  return ChildProcess([=](Wire& wire) {
    SharedMemory memory(kind);
    std::fill_n(memory.data(), kSize, 'm');
    End end(wire, memory.data(), kSize, access);
    wire.receive<char>();
    if (after) after(wire, end, memory);
  });
}

}  // namespace softverbs::test
