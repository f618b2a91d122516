#include "tests/faults/record_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "common/error.h"

namespace rdmablk::testing {

RecordJob::RecordJob(const Settings& settings, const RecordLayout& layout,
                     AcknowledgementWriter& acknowledgements)
    : settings_(settings),
      layout_(layout),
      acknowledgements_(acknowledgements),
      random_(layout.parameters().seed + settings.job) {}

void RecordJob::run() {
  const std::vector<Record>& records = layout_.records();
  for (std::uint64_t number = settings_.job; number < records.size(); number += settings_.jobs) {
    write(records[number], 0);
    if (layout_.parameters().rewrite) rewrite_an_older_one();
  }
  make_durable();
}

void RecordJob::write(const Record& record, std::uint64_t version) {
  const std::vector<std::byte> content = layout_.content(record, version);
  std::uint64_t offset = layout_.offset(record, version);
  for (std::span<const std::byte> rest(content); !rest.empty();) {
    const ssize_t written =
        ::pwrite(settings_.file, rest.data(), rest.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw SystemError(
          fmt::format("write record {} version {} at {}", record.number, version, offset),
          written < 0 ? errno : EIO);
    }
    rest = rest.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  pending_.push_back({record.number, version});
  if (pending_.size() >= settings_.every) make_durable();
}

/// A version is begun only when the one before it is durable: see
/// RecordLayout::Parameters::rewrite.
void RecordJob::rewrite_an_older_one() {
  if (durable_.empty()) return;
  const std::size_t index = random_() % durable_.size();
  const Version next{durable_[index].number, durable_[index].version + 1};
  const bool is_pending = std::ranges::any_of(
      pending_, [&](const Version& entry) { return entry.number == next.number; });
  if (!is_pending) write(layout_.records()[next.number], next.version);
}

void RecordJob::make_durable() {
  if (pending_.empty()) return;
  int status = 0;
  if (settings_.sync == Sync::kFsync) status = ::fsync(settings_.file);
  if (settings_.sync == Sync::kFdatasync) status = ::fdatasync(settings_.file);
  if (status != 0) {
    throw SystemError(fmt::format("flush up to record {}", pending_.back().number), errno);
  }
  acknowledgements_.add(pending_);
  acknowledged_ += pending_.size();
  for (const Version& entry : pending_) {
    const std::size_t index = entry.number / settings_.jobs;  // this job's, in order
    if (index >= durable_.size()) durable_.resize(index + 1);
    durable_[index] = entry;
  }
  pending_.clear();
}

}  // namespace rdmablk::testing
