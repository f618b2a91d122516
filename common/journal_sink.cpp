#define SD_JOURNAL_SUPPRESS_LOCATION
#include "common/journal_sink.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cstdlib>

namespace rdmablk {
namespace {

int priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return LOG_CRIT;
    case spdlog::level::err:
      return LOG_ERR;
    case spdlog::level::warn:
      return LOG_WARNING;
    case spdlog::level::info:
      return LOG_INFO;
    default:
      return LOG_DEBUG;
  }
}

/// The export that a line begins with; empty for none.
std::string_view export_of(std::string_view line) {
  constexpr std::string_view kBegin = "export '";
  if (!line.starts_with(kBegin)) return {};
  const std::string_view rest = line.substr(kBegin.size());
  const auto end = rest.find("':");
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

}  // namespace

bool stderr_is_journal() noexcept {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return stream == fmt::format("{}:{}", status.st_dev, status.st_ino);
}

std::vector<std::string> journal_entry(spdlog::level::level_enum level, std::string_view program,
                                       std::string_view line, std::span<const LogField> fields) {
  std::vector<std::string> entry{fmt::format("MESSAGE={}", line),
                                 fmt::format("PRIORITY={}", priority_of(level)),
                                 fmt::format("SYSLOG_IDENTIFIER={}", program)};
  bool has_export = false;
  for (const LogField& field : fields) {
    has_export |= std::string_view(field.name) == "EXPORT";
    if (!field.value.empty()) entry.push_back(fmt::format("{}={}", field.name, field.value));
  }
  const std::string_view about = export_of(line);
  if (!has_export && !about.empty()) entry.push_back(fmt::format("EXPORT={}", about));
  return entry;
}

void JournalSink::sink_it_(const spdlog::details::log_msg& message) {
  const auto entry =
      journal_entry(message.level, {message.logger_name.data(), message.logger_name.size()},
                    {message.payload.data(), message.payload.size()}, current_log_fields());
  std::vector<iovec> parts;
  for (const std::string& part : entry) {
    parts.push_back({const_cast<char*>(part.data()), part.size()});
  }
  ::sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

}  // namespace rdmablk
