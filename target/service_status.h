#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "target/service_manager.h"

namespace rdmablk::target {

/// The line that `systemctl status` shows of the target. It is told when it changes, and not more
/// often than people can read. Control thread.
class ServiceStatus {
 public:
  /// @param manager outlives this. @param text makes the line.
  ServiceStatus(asio::io_context& io, const ServiceManager& manager,
                std::function<std::string()> text);

  /// What the line says may have changed.
  void changed();

 private:
  void tell();

  asio::steady_timer timer_;
  const ServiceManager& manager_;
  std::function<std::string()> text_;
  std::string last_;
  bool waiting_ = false;
};

/// "2 exports (disk, scratch), 96 MiB; 1 session". @param names of the exports; of many, some are
/// shown. @param bytes that they have in all.
std::string service_status_text(std::span<const std::string_view> names, std::uint64_t bytes,
                                std::size_t sessions);

}  // namespace rdmablk::target
