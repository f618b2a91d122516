#pragma once

namespace rdmablk::metrics {

/// The page for people: HTML that needs nothing but /status.json beside it, which it reads again
/// and again.
const char* status_page() noexcept;

}  // namespace rdmablk::metrics
