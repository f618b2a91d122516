// What people write: exports, URIs, addresses, sizes, mount options, key files, faults of the
// software device; and the kernel's mount table. Each is read, or refused with a UsageError.
#include <algorithm>
#include <bit>
#include <stdexcept>

#include <array>

#include "common/auth/key_file.h"
#include "common/error.h"
#include "common/export_name.h"
#include "common/mount_table.h"
#include "common/softverbs/faults/fault.h"
#include "common/units.h"
#include "common/uri.h"
#include "fuse/options.h"
#include "target/export_spec.h"
#include "target/options.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

/// What is shown to people is written in the form that is read.
template <typename Parse>
auto read_again(Parse parse, const std::string& shown) {
  try {
    return parse(shown);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    require(false, "what is shown can be read");
    throw;
  }
}

void check_size(std::string_view text) {
  const auto size = parse_size(text);
  if (!size) return;
  require(!text.empty() && text.front() >= '0' && text.front() <= '9',
          "a size begins with a digit");
  require(!format_size(*size).empty(), "a size can be shown");
  const auto again = parse_size(std::to_string(*size));
  require(again == size, "a size is so many bytes");
}

void check_uri(std::string_view text) {
  const Uri uri = parse_uri(text);
  require(is_export_name(uri.export_name) && !uri.target.host.empty() && uri.target.port != 0,
          "a URI names a host, a port and an export");
  require(read_again([](const std::string& shown) { return parse_uri(shown); }, uri.text()) == uri,
          "a URI that is shown says the same");
}

void check_host(std::string_view text) {
  const HostPort target = parse_host_port(text);
  require(read_again([](const std::string& shown) { return parse_host_port(shown); },
                     target.text()) == target,
          "an address that is shown says the same");
}

void check_listen(std::string_view text) {
  constexpr std::array kMethods{cm::Method::rdmacm, cm::Method::tcp};
  for (const target::ListenPlace& place : target::parse_listen(text, kMethods)) {
    require(!place.where.host.empty(), "an address to listen on has a host");
  }
}

void check_export(std::string_view text) {
  const target::ExportSpec spec = target::parse_export_spec(text);
  require(is_export_name(spec.name), "an export has a name");
  if (!spec.has_file() || spec.file_size) {
    const std::uint64_t size = spec.file_size.value_or(spec.size);
    require(size > 0 && size % kSectorSize == 0 && size <= INT64_MAX, "and a size in sectors");
  }
  if (spec.has_file()) require(spec.path.starts_with('/'), "the path of a file is absolute");
  require(std::has_single_bit(spec.chunk) && spec.chunk >= kSectorSize,
          "chunks are of a power of two");
  if (!spec.has_file()) {
    require((spec.size - 1) / spec.chunk < target::kMaxChunks, "chunks are not too many");
  }
}

void check_mount_options(std::string_view text) {
  fuse::MountOptions options;
  options.parse(std::string(text));
  require(options.mode.value_or(0) <= 0777, "a mode is of permission bits");
  require(options.workers.value_or(1) > 0 && options.queue_depth.value_or(1) > 0,
          "there are workers and requests");
}

void check_mount_table(std::string_view text) {
  const auto entries = parse_mount_table(text);
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  require(entries.size() <= static_cast<std::size_t>(lines), "a line is one mount at most");
}

/// A file's contents are no usage.
void check_keys(std::string_view text) {
  try {
    for (const auth::NamedKey& named : auth::parse_keys(text, "keys")) {
      require(named.client.empty() || is_export_name(named.client), "a client has a name");
      require(auth::Key::parse(named.key.text().view()) == named.key, "a key can be read again");
    }
  } catch (const Error& error) {
    require(std::string_view(error.what()).find(":") != std::string_view::npos,
            "what is wrong says where");
  }
}

/// The software device has no class of errors of its own.
template <typename Parse>
auto parse_faults(Parse parse, std::string_view text) {
  try {
    return std::optional(parse(text));
  } catch (const std::invalid_argument& error) {
    require(*error.what() != '\0', "a refusal says why");
    return std::optional<decltype(parse(text))>();
  }
}

void check_faults(std::string_view text) {
  using std::chrono::minutes;
  const auto plan = parse_faults(softverbs::FaultPlan::parse, text);
  if (!plan) return;
  require(plan->cm_timeout <= minutes(10), "the connection manager waits minutes");
  for (const softverbs::FaultRule& rule : plan->rules) {
    require(!name_of(rule.fault).empty(), "a fault has a name");
    require(rule.chances > 0 && rule.strikes <= rule.chances, "a rate is a fraction");
    require(rule.time.count() >= 0 && rule.time <= minutes(10), "a delay takes minutes");
    require(!rule.status || (rule.fault == softverbs::Fault::kError && *rule.status != 0),
            "an error is none but of an error");
    require(!rule.event || rule.fault == softverbs::Fault::kCmLost, "messages are lost alone");
  }
}

void check_seed(std::string_view text) {
  const auto seed = parse_faults(softverbs::parse_seed, text);
  if (!seed) return;
  require(softverbs::parse_seed(std::to_string(*seed)) == *seed, "a seed can be read again");
}

void check(unsigned kind, std::string_view text) {
  switch (kind) {
    case 0:
      return check_size(text);
    case 1:
      return check_uri(text);
    case 2:
      return check_host(text);
    case 3:
      return check_listen(text);
    case 4:
      return check_export(text);
    case 5:
      return check_mount_options(text);
    case 6:
      return check_mount_table(text);
    case 7:
      return check_keys(text);
    case 8:
      return check_faults(text);
    default:
      return check_seed(text);
  }
}

}  // namespace
}  // namespace rdmablk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmablk::fuzz::Input input(data, size);
  const unsigned kind = input.choice(10);
  try {
    rdmablk::fuzz::check(kind, input.text());
  } catch (const rdmablk::UsageError&) {  // and nothing else
  }
  return 0;
}
