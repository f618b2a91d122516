#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

/// Counts what a program calls, in a file that a test reads while the program runs: a library to
/// preload, active in the program named rdmablk-fuse if HOT_PATH_COUNTS names the file. It holds
/// kOrigins rows of kKinds numbers.
///
/// Who calls is told apart by the return address, that is by whose code it is. What the C library
/// does by itself is not seen.
namespace hot_path {

enum Kind : std::size_t {
  allocation,
  lock,
  read_with_data,
  read_in_vain,  ///< nothing was there: how a thread spins
  reply,         ///< writev
  wait,          ///< poll, epoll_wait
  other_call,    ///< any other call of the system
  kKinds,
};

enum Origin : std::size_t {
  ours,  ///< the program, and the libraries that it calls for its own ends
  libfuse,
  device,  ///< libibverbs, librdmacm, or the software device in their place
  kOrigins,
};

/// Any thread; does nothing but count.
void count(Kind kind, const void* caller) noexcept;

/// The function that ours stands in front of.
template <typename Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace hot_path

/// Defines a function that counts its calls and passes them on.
#define HOT_PATH_COUNTED(kind, result, name, parameters, arguments, ...)                  \
  extern "C" [[gnu::visibility("default")]] result name parameters __VA_ARGS__ {          \
    static result(*const function) parameters = hot_path::next<result parameters>(#name); \
    hot_path::count(hot_path::kind, __builtin_return_address(0));                         \
    return function arguments;                                                            \
  }
