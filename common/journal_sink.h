#pragma once

#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/log_fields.h"

namespace rdmablk {

/// Whether standard error of this process goes to systemd's journal: $JOURNAL_STREAM names it.
bool stderr_is_journal() noexcept;

/// An entry of the journal: "FIELD=value" each.
/// @param fields what else it is about. A line that begins with "export 'NAME':" is about that
/// export, too.
std::vector<std::string> journal_entry(spdlog::level::level_enum level, std::string_view program,
                                       std::string_view line, std::span<const LogField> fields);

/// Sends the log to the journal, with its fields, instead of as text.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
};

}  // namespace rdmablk
