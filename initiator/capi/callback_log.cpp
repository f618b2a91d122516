#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>

#include <string>

#include "initiator/capi/options.h"

namespace rdmablk::capi {
namespace {

int level_of(spdlog::level::level_enum level) noexcept {
  switch (level) {
    case spdlog::level::critical:
    case spdlog::level::err:
      return RDMABLK_LOG_ERROR;
    case spdlog::level::warn:
      return RDMABLK_LOG_WARNING;
    case spdlog::level::info:
      return RDMABLK_LOG_INFO;
    default:
      return RDMABLK_LOG_DEBUG;
  }
}

spdlog::level::level_enum level_of(int level) noexcept {
  switch (level) {
    case RDMABLK_LOG_ERROR:
      return spdlog::level::err;
    case RDMABLK_LOG_WARNING:
      return spdlog::level::warn;
    case RDMABLK_LOG_INFO:
      return spdlog::level::info;
    default:
      return spdlog::level::debug;
  }
}

/// Calls the program's function. An image logs on one thread at a time, so that there is no lock.
class CallbackSink final : public spdlog::sinks::sink {
 public:
  CallbackSink(rdmablk_log_function* told, void* user) : told_(told), user_(user) {}

  void log(const spdlog::details::log_msg& message) override {
    const std::string line(message.payload.data(), message.payload.size());
    told_(user_, level_of(message.level), line.c_str());
  }
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

 private:
  rdmablk_log_function* told_;
  void* user_;
};

}  // namespace

/// Nothing of it is known to the process's registry of loggers, which is the program's.
std::shared_ptr<spdlog::logger> make_log(const rdmablk_options& options) {
  auto logger = std::make_shared<spdlog::logger>("rdmablk");
  logger->set_level(spdlog::level::off);
  logger->set_error_handler([](const std::string& /*what*/) {});  // it would write to stderr
  if (options.log != nullptr) {
    logger->sinks().push_back(std::make_shared<CallbackSink>(options.log, options.log_user));
    logger->set_level(level_of(options.log_level));
  }
  return logger;
}

}  // namespace rdmablk::capi
