#include "target/counts.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>

namespace rdmablk::target {

std::string Counts::text() const {
  return fmt::format(
      "counts: sessions={} attachments={} io_queues={} draining={} queue_pairs={} "
      "memory_regions={} protection_domains={} registered_bytes={} open_fds={} leases={}",
      sessions, attachments, io_queues, draining, footprint.queue_pairs, footprint.memory_regions,
      footprint.protection_domains, footprint.bytes, open_fds, leases);
}

std::size_t count_open_fds() {
  std::error_code error;
  const std::filesystem::directory_iterator open("/proc/self/fd", error);
  // One of them is the directory itself.
  const auto count = error ? 0 : std::distance(begin(open), end(open));
  return count > 0 ? static_cast<std::size_t>(count) - 1 : 0;
}

}  // namespace rdmablk::target
