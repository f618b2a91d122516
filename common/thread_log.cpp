#include "common/thread_log.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace rdmablk {
namespace {

thread_local std::shared_ptr<spdlog::logger> log_of_thread;

}  // namespace

spdlog::logger& thread_log() noexcept {
  return log_of_thread ? *log_of_thread : *spdlog::default_logger_raw();
}

std::shared_ptr<spdlog::logger> shared_thread_log() noexcept {
  return log_of_thread;
}

ThreadLog::ThreadLog(std::shared_ptr<spdlog::logger> logger) noexcept
    : before_(std::exchange(log_of_thread, std::move(logger))) {}

ThreadLog::~ThreadLog() {
  log_of_thread = std::move(before_);
}

}  // namespace rdmablk
