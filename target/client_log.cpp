#include "target/client_log.h"

#include <spdlog/spdlog.h>

#include "common/counted.h"
#include "common/log_fields.h"

namespace rdmablk::target {

void ClientLog::note(const std::string& account, spdlog::level::level_enum level,
                     const std::string& line, Clock::time_point now, std::string_view export_name) {
  forget_idle(now);
  LogLimiter& limiter = limiters_.try_emplace(account, kLines).first->second;
  const auto text = limiter.note(line, now);
  if (!text) return;
  const bool is_address = account.starts_with(':');
  const std::string_view name = std::string_view(account).substr(is_address ? 1 : 0);
  log_about({{is_address ? "CLIENT_ADDRESS" : "CLIENT", name}, {"EXPORT", export_name}}, level,
            *text);
}

/// Or every address that ever came would be known for ever.
void ClientLog::forget_idle(Clock::time_point now) {
  if (now - looked_ < LogLimiter::kWindow) return;
  looked_ = now;
  std::erase_if(limiters_, [now](const auto& entry) {
    const auto& [account, limiter] = entry;
    if (!limiter.is_idle(now)) return false;
    const bool is_address = account.starts_with(':');
    if (limiter.left_out() > 0) {
      spdlog::warn("left out {} about {}", counted(limiter.left_out(), "more line"),
                   std::string_view(account).substr(is_address ? 1 : 0));
    }
    return true;
  });
}

}  // namespace rdmablk::target
