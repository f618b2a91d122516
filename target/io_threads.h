#pragma once

#include <asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "target/file_numbers.h"
#include "target/io_thread.h"

namespace rdmablk::target {

/// The I/O threads of a target, and the files that they work on, which come and go. The threads are
/// started when the first file comes. Used by its control thread.
class IoThreads {
 public:
  /// @param io of the control thread; outlives this. @param count of threads that serve queues; at
  /// least 1.
  IoThreads(asio::io_context& io, std::size_t count);
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  /// Takes a number for a file. Throws Error when there are as many files as there can be.
  unsigned take_number();

  /// @pre its file is out.
  void give_back(unsigned number) noexcept { numbers_.give_back(number); }

  /// Is told, from the event loop or from within, that all threads know of a change.
  /// @param error 0 or an errno value.
  using Known = std::function<void(int error)>;

  /// Has the threads know a file from their start on. @pre they have not started.
  void expect_file(unsigned number, int fd) noexcept { files_[number] = fd; }

  /// Starts the threads if there are files. Throws SystemError or MemlockError.
  void start_if_needed();

  /// Has all threads know a file by its number. Throws SystemError or MemlockError when they cannot
  /// be started; told of a failure, they may know it or not: take it out.
  /// @param fd stays open until it is out.
  void add_file(unsigned number, int fd, Known known);

  /// Has all threads forget a file. @pre nothing on it is in flight.
  void remove_file(unsigned number, Known known);

  /// The thread for the next queue: they take turns. @pre there is a file.
  IoThread& next() noexcept;

  /// Those that serve queues; none as long as there is no file.
  std::span<const std::unique_ptr<IoThread>> all() const noexcept { return threads_; }

  /// A thread for system calls that block; serves no queue. @pre there is a file.
  IoThread& blocking() noexcept { return *blocking_; }

  /// Ends the threads, once what was posted to them has run. Nothing comes after.
  void end() noexcept;

 private:
  class Update;

  void start();
  void update(unsigned number, Known known);

  asio::io_context& io_;
  std::size_t count_;
  FileNumbers numbers_;
  std::vector<int> files_;  ///< by their numbers; -1: none
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::unique_ptr<IoThread> blocking_;
  std::size_t next_ = 0;
};

}  // namespace rdmablk::target
