#include "initiator/copy/transfer_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/counted.h"
#include "common/seconds.h"
#include "common/units.h"

namespace rdmablk::copy {
namespace {

double bytes_per_second(const TransferResult& result) {
  const double seconds = in_seconds(result.elapsed);
  return static_cast<double>(result.data_bytes + result.zero_bytes) / std::max(seconds, 1e-9);
}

std::string zeroes_text(const TransferResult& result) {
  if (result.zero_bytes == 0) return "";
  if (result.data_bytes == 0) return ", all of it zeroes";
  return fmt::format(", {} of that zeroes", format_size(result.zero_bytes));
}

}  // namespace

std::string transfer_text(const std::string& done, const TransferResult& result) {
  constexpr double kMebibyte = 1U << 20U;
  return fmt::format("{} {}{}, in {:.2f} s: {:.1f} MiB/s{}\n",
                     format_size(result.data_bytes + result.zero_bytes), done,
                     done == kZeroed ? "" : zeroes_text(result), in_seconds(result.elapsed),
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
