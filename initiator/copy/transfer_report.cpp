#include "initiator/copy/transfer_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/units.h"

namespace rdmablk::copy {
namespace {

double bytes_per_second(const TransferResult& result) {
  const double seconds = std::chrono::duration<double>(result.elapsed).count();
  return static_cast<double>(result.data_bytes + result.zero_bytes) / std::max(seconds, 1e-9);
}

}  // namespace

std::string transfer_text(const std::string& done, const TransferResult& result) {
  constexpr double kMebibyte = 1U << 20U;
  std::string zeroes;
  if (result.zero_bytes > 0)
    zeroes = fmt::format(", {} of that zeroes", format_size(result.zero_bytes));
  return fmt::format("{} {}{}, in {:.2f} s: {:.1f} MiB/s{}\n",
                     format_size(result.data_bytes + result.zero_bytes), done, zeroes,
                     std::chrono::duration<double>(result.elapsed).count(),
                     bytes_per_second(result) / kMebibyte, result.verified ? "; verified" : "");
}

void add_transfer(cli::Json& document, const TransferResult& result) {
  document["size_bytes"] = result.data_bytes + result.zero_bytes;
  document["data_bytes"] = result.data_bytes;
  document["zero_bytes"] = result.zero_bytes;
  document["elapsed_ns"] = result.elapsed.count();
  document["bandwidth_bytes_per_second"] =
      static_cast<std::uint64_t>(std::llround(bytes_per_second(result)));
  document["verified"] = result.verified;
}

}  // namespace rdmablk::copy
