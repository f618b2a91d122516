#include "initiator/capi/failure.h"

#include <cerrno>
#include <new>
#include <system_error>

#include "common/known_error.h"
#include "common/verbs/memory_region.h"
#include "initiator/admin_link.h"
#include "initiator/link.h"

namespace rdmablk::capi {
namespace {

using initiator::ConnectError;
using initiator::Obstacle;
using initiator::RefusedError;
using protocol::Status;

/// Texts of the program's own need no memory; those of errors do.
thread_local const char* failure_of_thread = "";
thread_local std::string failure_text_of_thread;

int errno_of(Status status) noexcept {
  switch (status) {
    case Status::unauthorized:
      return EACCES;
    case Status::no_export:
      return ENOENT;
    case Status::read_only:
      return EROFS;
    case Status::busy:
    case Status::fenced:
      return EBUSY;
    case Status::limit:
      return EUSERS;
    case Status::no_space:
      return ENOSPC;
    case Status::version:
    case Status::not_supported:
      return EPROTONOSUPPORT;
    case Status::shutting_down:
      return ECONNREFUSED;
    default:
      return EIO;
  }
}

int errno_of(const ConnectError& error) noexcept {
  if (error.refusal()) return errno_of(*error.refusal());
  switch (error.obstacle()) {
    case Obstacle::no_way:
      return EHOSTUNREACH;
    case Obstacle::no_listener:
    case Obstacle::refusal:
      return ECONNREFUSED;
    case Obstacle::no_answer:
      return ETIMEDOUT;
    case Obstacle::other:
      break;
  }
  return EIO;
}

int errno_of(const std::exception& error) noexcept {
  if (const auto* system = dynamic_cast<const SystemError*>(&error)) return system->error();
  if (const auto* known = dynamic_cast<const KnownError*>(&error)) return known->error();
  if (const auto* refused = dynamic_cast<const RefusedError*>(&error)) {
    return errno_of(refused->status());
  }
  if (const auto* connect = dynamic_cast<const ConnectError*>(&error)) return errno_of(*connect);
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return EINVAL;
  if (dynamic_cast<const verbs::MemlockError*>(&error) != nullptr) return ENOMEM;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ENOMEM;
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    return system->code().value();
  }
  return EIO;
}

}  // namespace

int fail(int error, const char* text) noexcept {
  failure_of_thread = text;
  return -error;
}

int fail(int error, const std::exception& why) noexcept {
  try {
    failure_text_of_thread = why.what();
    failure_of_thread = failure_text_of_thread.c_str();
  } catch (const std::exception&) {
    failure_of_thread = "there is no memory, not even to say what for";
  }
  return -error;
}

int fail(const std::exception& error) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return fail(ENOMEM, "there is no memory");
  }
  return fail(errno_of(error), error);
}

const char* last_failure() noexcept {
  return failure_of_thread;
}

}  // namespace rdmablk::capi
