#include "initiator/doctor/host.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "common/error.h"
#include "common/file_text.h"
#include "common/numa.h"
#include "common/verbs/memory_region.h"
#include "initiator/copy/io_ring.h"

namespace rdmablk::doctor {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

unsigned usable_cores() {
  const auto cpus = usable_cpus();
  return cpus ? static_cast<unsigned>(CPU_COUNT(&*cpus)) : 1;
}

std::string try_io_uring() {
  try {
    const copy::IoRing ring(1);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

Host Host::look() {
  Host host;
  host.devices = cli::query_rdma_devices();
  host.memlock_limit = verbs::memlock_limit();
  host.cores = usable_cores();
  host.is_root = ::geteuid() == 0;
  host.preloaded = environment("LD_PRELOAD");
  host.search_path = environment("PATH");
  host.io_uring_error = try_io_uring();
  return host;
}

bool Host::has(const std::string& path) const {
  std::error_code ignored;
  return std::filesystem::exists(at(path), ignored);
}

bool Host::may_use(const std::string& path) const {
  return ::access(at(path).c_str(), R_OK | W_OK) == 0;
}

std::optional<std::string> Host::read(const std::string& path) const {
  auto text = read_file_text(at(path));
  while (text && text->ends_with('\n')) text->pop_back();
  return text;
}

std::vector<std::string> Host::names_in(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(at(path), error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Host::has_software_device() const {
  return preloaded.find("libsoftverbs") != std::string::npos;
}

}  // namespace rdmablk::doctor
