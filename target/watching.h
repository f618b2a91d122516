#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <optional>

#include "common/metrics/http_server.h"
#include "common/metrics/loop_inquiry.h"
#include "common/uri.h"
#include "target/target_figures.h"

namespace rdmablk::target {

/// Lets Prometheus and browsers see how a target is doing. Used by the control thread, which alone
/// looks at things; the threads of the server ask it, and wait for a limited time.
class Watching {
 public:
  /// Listens. Throws Error.
  /// @param look is called on the thread that runs `io`; both outlive this.
  /// @param is_patient whether to try again and again, with a warning, where the address is taken:
  /// by the target that this one takes over from.
  Watching(asio::io_context& io, std::function<TargetFigures()> look, const HostPort& address,
           bool is_patient);

  /// Waits for the pages that are being made, but not for answers.
  ~Watching();
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  void listen();
  void try_to_listen();

  metrics::LoopInquiry<TargetFigures> inquiry_;
  HostPort address_;
  asio::steady_timer retry_;
  std::optional<metrics::HttpServer> server_;
};

}  // namespace rdmablk::target
