#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rdmablk {

/// Exit statuses of every program of the project.
enum ExitStatus : int { kExitDone = 0, kExitFailed = 1, kExitUsage = 2 };

/// Something failed while setting up. what() is one line for the person who reads it: what was
/// being done, to what, why it failed and, where it helps, what to do. Not used on the data path.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the user asked for makes no sense; programs end with kExitUsage.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A system or verbs call failed.
class SystemError : public Error {
 public:
  /// @param doing what was being done and to what, without a full stop ("register 4096 bytes ...").
  /// @param error an errno value, positive.
  SystemError(std::string_view doing, int error);

  int error() const noexcept { return error_; }

 private:
  int error_;
};

/// The text of an errno value: "Connection refused".
std::string errno_text(int error);

}  // namespace rdmablk
