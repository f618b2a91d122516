#include "target/pulse.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

namespace rdmablk::target {

bool Pulse::waits_for_device() const {
  const pid_t thread = thread_.load(std::memory_order_relaxed);
  return thread != 0 && target::waits_for_device(thread);
}

void Pulse::run() noexcept {
  thread_.store(::gettid(), std::memory_order_relaxed);
  answered_.store(true, std::memory_order_release);
}

bool waits_for_device(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/stat", thread));
  std::string line;
  return std::getline(file, line) && thread_state(line.c_str()) == 'D';
}

char thread_state(const char* line) noexcept {
  const char* const name_end = std::strrchr(line, ')');
  return name_end == nullptr || name_end[1] != ' ' ? '\0' : name_end[2];
}

}  // namespace rdmablk::target
