#include "target/io_threads.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/post.hpp>
#include <atomic>
#include <deque>

#include "common/error.h"

namespace rdmablk::target {
namespace {

constexpr int kNone = -1;

}  // namespace

/// A change of one file on all rings. Lasts until all threads know of it.
class IoThreads::Update {
 public:
  static void begin(asio::io_context& io, std::span<const std::unique_ptr<IoThread>> threads,
                    unsigned number, int fd, Known known) {
    const auto update = std::make_shared<Update>(io, number, fd, std::move(known));
    update->self_ = update;
    update->left_ = threads.size();
    for (const auto& thread : threads) update->tasks_.emplace_back(*update, *thread);
    // The last one may be through before the loop is: it must not look at what that one frees.
    for (std::size_t i = 0; i < threads.size(); ++i) threads[i]->post(update->tasks_[i]);
  }

  Update(asio::io_context& io, unsigned number, int fd, Known known)
      : io_(io), number_(number), fd_(fd), known_(std::move(known)) {}

 private:
  class Task final : public IoTask {
   public:
    Task(Update& update, IoThread& thread) noexcept : update_(update), thread_(thread) {}
    void run() noexcept override { update_.run(thread_); }

   private:
    Update& update_;
    IoThread& thread_;
  };

  void run(IoThread& thread) noexcept {
    const int error = thread.ring().update_file(number_, fd_);
    if (error != 0) error_ = error;
    if (--left_ > 0) return;
    asio::post(io_, [self = std::move(self_)] { self->known_(self->error_); });
  }

  asio::io_context& io_;
  unsigned number_;
  int fd_;
  Known known_;
  std::deque<Task> tasks_;
  std::atomic<std::size_t> left_ = 0;
  std::atomic<int> error_ = 0;
  std::shared_ptr<Update> self_;
};

IoThreads::IoThreads(asio::io_context& io, std::size_t count)
    : io_(io), count_(count), numbers_(most_files()), files_(numbers_.size(), kNone) {}

IoThreads::~IoThreads() = default;

unsigned IoThreads::take_number() {
  if (const auto number = numbers_.take()) return *number;
  throw Error(
      fmt::format("no more than {} exports of files are possible: raise the limit of open files "
                  "(LimitNOFILE=, ulimit -n)",
                  numbers_.size()));
}

void IoThreads::add_file(unsigned number, int fd, Known known) {
  files_[number] = fd;
  if (!threads_.empty()) return update(number, std::move(known));
  try {
    start();
  } catch (...) {
    files_[number] = kNone;
    throw;
  }
  known(0);
}

void IoThreads::remove_file(unsigned number, Known known) {
  files_[number] = kNone;
  threads_.empty() ? known(0) : update(number, std::move(known));
}

void IoThreads::start_if_needed() {
  const bool is_needed =
      std::any_of(files_.begin(), files_.end(), [](int file) { return file != kNone; });
  if (is_needed && threads_.empty()) start();
}

void IoThreads::start() {
  std::vector<std::unique_ptr<IoThread>> threads;
  for (unsigned i = 0; i < count_; ++i) threads.push_back(std::make_unique<IoThread>(i, files_));
  blocking_ = std::make_unique<IoThread>(static_cast<unsigned>(count_), std::span<const int>());
  threads_ = std::move(threads);
}

void IoThreads::update(unsigned number, Known known) {
  Update::begin(io_, threads_, number, files_[number], std::move(known));
}

IoThread& IoThreads::next() noexcept {
  IoThread& thread = *threads_[next_];
  next_ = (next_ + 1) % threads_.size();
  return thread;
}

void IoThreads::end() noexcept {
  blocking_.reset();
  threads_.clear();
}

}  // namespace rdmablk::target
