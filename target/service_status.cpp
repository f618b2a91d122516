#include "target/service_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/counted.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

constexpr std::chrono::milliseconds kPause{100};
constexpr std::size_t kNames = 8;

}  // namespace

ServiceStatus::ServiceStatus(asio::io_context& io, const ServiceManager& manager,
                             std::function<std::string()> text)
    : timer_(io), manager_(manager), text_(std::move(text)) {
  if (manager_.is_there()) tell();
}

void ServiceStatus::changed() {
  if (waiting_ || !manager_.is_there()) return;
  waiting_ = true;
  timer_.expires_after(kPause);
  timer_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    waiting_ = false;
    tell();
  });
}

void ServiceStatus::tell() {
  auto text = text_();
  if (text == last_) return;
  manager_.tell_status(text);
  last_ = std::move(text);
}

std::string service_status_text(std::span<const std::string_view> names, std::uint64_t bytes,
                                std::size_t sessions) {
  const auto shown = names.first(std::min(names.size(), kNames));
  std::string list = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > shown.size()) list += fmt::format(" and {} more", names.size() - shown.size());
  return fmt::format("{}{}; {}", counted(names.size(), "export"),
                     names.empty() ? "" : fmt::format(" ({}), {}", list, format_size(bytes)),
                     counted(sessions, "session"));
}

}  // namespace rdmablk::target
