#include "common/numa.h"

#include <fmt/format.h>
#include <numaif.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <fstream>
#include <string_view>

namespace rdmablk {
namespace {

/// As many nodes as Linux can be built for.
constexpr unsigned kMaxNodes = 1024;
constexpr unsigned kBitsPerWord = sizeof(unsigned long) * CHAR_BIT;

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// The first line of a file; empty when it cannot be read.
std::string first_line(const std::filesystem::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

/// Adds a range as the kernel writes it: "3" or "0-7". @return whether it is one.
bool add_range(cpu_set_t& cpus, std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(text.substr(dash + 1));
  if (!first || !last || *last >= CPU_SETSIZE || *first > *last) return false;
  for (int cpu = *first; cpu <= *last; ++cpu) CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  return true;
}

}  // namespace

std::optional<int> device_numa_node(const std::string& device, const std::filesystem::path& sysfs) {
  return parse_number(first_line(sysfs / "class/infiniband" / device / "device/numa_node"));
}

std::optional<cpu_set_t> node_cpus(int node, const std::filesystem::path& sysfs) {
  const std::string line =
      first_line(sysfs / "devices/system/node" / fmt::format("node{}", node) / "cpulist");
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    if (!add_range(cpus, rest.substr(0, comma))) return std::nullopt;
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  if (CPU_COUNT(&cpus) == 0) return std::nullopt;
  return cpus;
}

std::optional<cpu_set_t> usable_cpus(std::optional<int> node, const std::filesystem::path& sysfs) {
  cpu_set_t allowed;
  if (::pthread_getaffinity_np(::pthread_self(), sizeof allowed, &allowed) != 0) return {};
  const auto of_node = node ? node_cpus(*node, sysfs) : std::nullopt;
  if (!of_node) return allowed;
  cpu_set_t both;
  CPU_AND(&both, &allowed, &*of_node);
  return CPU_COUNT(&both) == 0 ? allowed : both;
}

bool pin_this_thread_to(int node, const std::filesystem::path& sysfs) {
  const auto allowed = usable_cpus();
  const auto there = usable_cpus(node, sysfs);
  if (!allowed || !there || CPU_EQUAL(&*allowed, &*there)) return false;
  return ::pthread_setaffinity_np(::pthread_self(), sizeof *there, &*there) == 0;
}

std::optional<int> pin_this_thread_near(const std::string& device, unsigned threads,
                                        const std::filesystem::path& sysfs) {
  const auto node = device_numa_node(device, sysfs);
  const auto there = node ? usable_cpus(node, sysfs) : std::nullopt;
  if (!there || static_cast<unsigned>(CPU_COUNT(&*there)) < threads) return {};
  return pin_this_thread_to(*node, sysfs) ? node : std::nullopt;
}

int prefer_node(std::span<std::byte> memory, int node) noexcept {
  if (node < 0 || static_cast<unsigned>(node) >= kMaxNodes) return EINVAL;
  std::array<unsigned long, kMaxNodes / kBitsPerWord> nodes{};
  const auto bit = static_cast<unsigned>(node);
  nodes[bit / kBitsPerWord] = 1UL << (bit % kBitsPerWord);
  // One more than the number of bits: the kernel takes one off.
  const long result =
      ::mbind(memory.data(), memory.size(), MPOL_PREFERRED, nodes.data(), kMaxNodes + 1, 0);
  return result == 0 ? 0 : errno;
}

}  // namespace rdmablk
