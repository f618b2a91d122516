#include "initiator/capi/options.h"

#include <cerrno>
#include <new>
#include <optional>

#include "common/export_name.h"
#include "initiator/capi/failure.h"
#include "initiator/recovery_arguments.h"

using rdmablk::capi::fail;
using rdmablk::capi::guarded;

static_assert(RDMABLK_MAX_MS == rdmablk::initiator::kMaxRecoveryTime.count());

namespace {

constexpr const char* kNoOptions = "the options are NULL";
constexpr const char* kNoTime = "the time is not in the range that it may be in";

/// Sets a text that may be NULL.
int set_text(std::string& text, const char* value) {
  return guarded([&] {
    text = value == nullptr ? "" : value;
    return 0;
  });
}

bool is_time(std::int64_t milliseconds, std::int64_t least) {
  return milliseconds >= least && milliseconds <= RDMABLK_MAX_MS;
}

/// Sets a time that may be RDMABLK_NEVER.
int set_limit(std::optional<std::chrono::milliseconds>& limit, std::int64_t milliseconds) {
  if (milliseconds == RDMABLK_NEVER) {
    limit.reset();
  } else if (is_time(milliseconds, 0)) {
    limit = std::chrono::milliseconds(milliseconds);
  } else {
    return fail(EINVAL, kNoTime);
  }
  return 0;
}

int set_time(std::chrono::milliseconds& time, std::int64_t milliseconds) {
  if (!is_time(milliseconds, 1)) return fail(EINVAL, kNoTime);
  time = std::chrono::milliseconds(milliseconds);
  return 0;
}

}  // namespace

rdmablk_options* rdmablk_options_new() {
  rdmablk_options* options = nullptr;
  guarded([&] {
    options = new rdmablk_options;
    return 0;
  });
  return options;
}

void rdmablk_options_free(rdmablk_options* options) {
  delete options;
}

int rdmablk_options_set_key_file(rdmablk_options* options, const char* path) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  if (path != nullptr && *path == '\0') return fail(EINVAL, "the name of the key file is empty");
  return set_text(options->key_file, path);
}

int rdmablk_options_set_client(rdmablk_options* options, const char* name) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  if (name != nullptr && !rdmablk::is_export_name(name)) {
    return fail(
        EINVAL,
        "this is not a client's name: up to 63 letters, digits, '.', '_' and '-', the first "
        "a letter or digit");
  }
  return set_text(options->client, name);
}

int rdmablk_options_set_connection(rdmablk_options* options, const char* name, const char* value) {
  using rdmablk::initiator::ConnectionOptions;
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  if (name == nullptr || !ConnectionOptions::has(name)) {
    return fail(EINVAL, "there is no option of this name for connections");
  }
  if (value == nullptr) return fail(EINVAL, "the option's value is NULL");
  return guarded([&] {
    options->connection.set(name, rdmablk::cm::Spelling::mount_option, value);
    return 0;
  });
}

int rdmablk_options_set_read_only(rdmablk_options* options, int read_only) {
  using rdmablk::protocol::Access;
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  options->attach.access = read_only != 0 ? Access::read_only : Access::read_write;
  return 0;
}

int rdmablk_options_set_take_over(rdmablk_options* options, int take_over) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  options->attach.take_over = take_over != 0;
  return 0;
}

int rdmablk_options_add_path(rdmablk_options* options, const char* path) {
  return rdmablk_options_set_connection(options, "path", path);
}

int rdmablk_options_set_queues(rdmablk_options* options, unsigned count) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  if (count == 0 || count > RDMABLK_MAX_QUEUES) {
    return fail(EINVAL, "an image has 1 to 256 queues");
  }
  options->attach.queues = count;
  return 0;
}

int rdmablk_options_set_depth(rdmablk_options* options, unsigned depth) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  if (depth == 0 || depth > RDMABLK_MAX_DEPTH) return fail(EINVAL, "a queue is 1 to 4096 deep");
  options->attach.depth = depth;
  return 0;
}

int rdmablk_options_set_connect_timeout_ms(rdmablk_options* options, int64_t milliseconds) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  return set_time(options->session.timeout, milliseconds);
}

int rdmablk_options_set_reconnect_delay_ms(rdmablk_options* options, int64_t milliseconds) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  return set_time(options->session.recovery.reconnect_delay, milliseconds);
}

int rdmablk_options_set_fail_fast_ms(rdmablk_options* options, int64_t milliseconds) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  return set_limit(options->session.recovery.fail_fast, milliseconds);
}

int rdmablk_options_set_give_up_ms(rdmablk_options* options, int64_t milliseconds) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  return set_limit(options->session.recovery.give_up, milliseconds);
}

int rdmablk_options_set_log(rdmablk_options* options, rdmablk_log_function* log, void* user,
                            int level) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  if (level < RDMABLK_LOG_ERROR || level > RDMABLK_LOG_DEBUG) {
    return fail(EINVAL, "this is not an enum rdmablk_log_level");
  }
  options->log = log;
  options->log_user = user;
  options->log_level = level;
  return 0;
}

int rdmablk_options_set_on_change(rdmablk_options* options, rdmablk_change_function* on_change,
                                  void* user) {
  if (options == nullptr) return fail(EINVAL, kNoOptions);
  options->on_change = on_change;
  options->change_user = user;
  return 0;
}
