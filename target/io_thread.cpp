#include "target/io_thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "common/error.h"
#include "common/signals.h"

namespace rdmablk::target {
namespace {

/// As many as the kernel allows (IORING_MAX_REG_BUFFERS): an empty place costs a pointer.
constexpr unsigned kBuffers = 1U << 14;

UniqueFd make_eventfd() {
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) throw SystemError("make an eventfd", errno);
  return fd;
}

}  // namespace

IoThread::Mailbox::Mailbox() : wakeup_(make_eventfd()) {}

void IoThread::Mailbox::post(IoTask& task) noexcept {
  const std::lock_guard lock(mutex_);
  if (tasks_.empty()) wake();
  tasks_.push_back(task);
}

void IoThread::Mailbox::wake() noexcept {
  ::eventfd_write(wakeup_.get(), 1);
}

bool IoThread::Mailbox::empty() noexcept {
  const std::lock_guard lock(mutex_);
  return tasks_.empty();
}

void IoThread::Mailbox::on_readable() noexcept {
  eventfd_t count = 0;
  ::eventfd_read(wakeup_.get(), &count);
  Tasks tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  run(tasks);
}

void IoThread::run(Tasks& tasks) noexcept {
  while (!tasks.empty()) {
    IoTask& task = tasks.front();
    tasks.pop_front();
    task.run();
  }
}

IoThread::IoThread(unsigned number, std::span<const int> files, std::string_view kind)
    : ring_(files, kBuffers) {
  const SignalsBlocked blocked;  // they are for the thread that controls
  try {
    thread_ = std::thread([this, name = fmt::format("{}-{}", kind, number)] {
      pthread_setname_np(pthread_self(), name.c_str());
      serve();
    });
  } catch (const std::system_error& error) {
    throw SystemError("start an I/O thread", error.code().value());
  }
}

IoThread::~IoThread() {
  stopping_ = true;
  mailbox_.wake();
  thread_.join();
}

void IoThread::post(IoTask& task) noexcept {
  mailbox_.post(task);
}

void IoThread::ask_pulse() noexcept {
  if (!pulse_.is_answered()) return;
  pulse_.ask();
  post(pulse_);
}

void IoThread::serve() noexcept {
  ring_.watch(mailbox_.fd(), mailbox_);
  while (!stopping_ || !mailbox_.empty() || ring_.in_flight() > 0) {
    knows_time_ = false;
    ring_.run(true);
    run(deferred_);
  }
  ring_.unwatch(mailbox_);
}

}  // namespace rdmablk::target
