#pragma once

#include <memory>
#include <string>

#include "initiator/capi/rdmablk.h"
#include "initiator/connection_options.h"
#include "initiator/session.h"

namespace spdlog {
class logger;
}

/// How to connect, as the setters have it.
struct rdmablk_options {
  rdmablk::initiator::SessionOptions session;  ///< but for the credentials and the connection
  rdmablk::initiator::ConnectionOptions connection;
  rdmablk::initiator::AttachOptions attach;
  std::string key_file;  ///< empty: none
  std::string client;    ///< empty: as the key file says

  rdmablk_log_function* log = nullptr;
  void* log_user = nullptr;
  int log_level = RDMABLK_LOG_WARNING;

  rdmablk_change_function* on_change = nullptr;
  void* change_user = nullptr;
};

namespace rdmablk::capi {

/// The log that options ask for; one that takes nothing if they ask for none.
std::shared_ptr<spdlog::logger> make_log(const rdmablk_options& options);

}  // namespace rdmablk::capi
