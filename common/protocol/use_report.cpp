#include "common/protocol/use_report.h"

#include <limits>

namespace rdmablk::protocol {

std::array<std::uint64_t, Use::kFields> Use::fields() const noexcept {
  return {reads, writes, flushes, others, bytes_read, bytes_written, errors};
}

Use Use::of(const std::array<std::uint64_t, kFields>& fields) noexcept {
  return {fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]};
}

Use Use::since(const Use& before) const noexcept {
  auto now = fields();
  const auto then = before.fields();
  for (std::size_t i = 0; i < kFields; ++i) {
    if (now[i] >= then[i]) now[i] -= then[i];
  }
  return of(now);
}

Use& Use::operator+=(const Use& other) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  auto sum = fields();
  const auto more = other.fields();
  for (std::size_t i = 0; i < kFields; ++i) {
    sum[i] = more[i] > kMost - sum[i] ? kMost : sum[i] + more[i];
  }
  return *this = of(sum);
}

void UseReport::encode(WireWriter& writer) const {
  writer.put(static_cast<std::uint32_t>(entries.size()));
  writer.pad(4);
  for (const AttachmentUse& entry : entries) {
    writer.put(entry.attachment);
    for (const std::uint64_t field : entry.use.fields()) writer.put(field);
  }
}

std::optional<UseReport> UseReport::decode(std::span<const std::byte> payload) {
  WireReader reader(payload);
  std::uint32_t count = 0;
  reader.get(count);
  reader.skip(4);
  if (!reader.ok() || count > kMaxEntries) return std::nullopt;
  UseReport report;
  for (std::uint32_t i = 0; i < count; ++i) {
    AttachmentUse& entry = report.entries.emplace_back();
    reader.get(entry.attachment);
    auto fields = entry.use.fields();
    for (std::uint64_t& field : fields) reader.get(field);
    entry.use = Use::of(fields);
  }
  if (!reader.ok() || !reader.rest().empty()) return std::nullopt;
  return report;
}

}  // namespace rdmablk::protocol
