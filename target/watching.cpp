#include "target/watching.h"

#include <spdlog/spdlog.h>

#include <map>
#include <string>
#include <utility>

#include "common/metrics/exposition.h"
#include "common/metrics/status_page.h"

namespace rdmablk::target {
namespace {

constexpr std::chrono::milliseconds kRetry{500};

}  // namespace

Watching::Watching(asio::io_context& io, std::function<TargetFigures()> look,
                   const HostPort& address, bool is_patient)
    : inquiry_(io, std::move(look)), address_(address), retry_(io) {
  try {
    listen();
  } catch (const Error& error) {
    if (!is_patient) throw;
    spdlog::warn("{}; trying again", error.what());
    try_to_listen();
  }
}

Watching::~Watching() {
  inquiry_.close();
}

void Watching::listen() {
  using metrics::HttpResponse;
  std::map<std::string, metrics::HttpServer::Page> pages;
  pages["/"] = [] { return HttpResponse{metrics::kHtml, metrics::status_page()}; };
  pages["/status.json"] = [this] { return HttpResponse{metrics::kJson, inquiry_.ask()->status()}; };
  pages["/metrics"] = [this] {
    return HttpResponse{metrics::Exposition::kContentType, inquiry_.ask()->metrics()};
  };
  server_.emplace(address_, std::move(pages));
  spdlog::info("metrics at http://{}/metrics", server_->address().text());
}

void Watching::try_to_listen() {
  retry_.expires_after(kRetry);
  retry_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    try {
      listen();
    } catch (const Error&) {
      try_to_listen();
    }
  });
}

}  // namespace rdmablk::target
