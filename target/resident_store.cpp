#include "target/resident_store.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <limits>
#include <vector>

#include "common/error.h"
#include "common/units.h"
#include "target/file_loader.h"

namespace rdmablk::target {
namespace {

/// The store's file under its own number, alone.
std::vector<int> files_of(const FileStore& store) {
  constexpr int kNone = -1;
  std::vector<int> files(store.number() + std::size_t{1}, kNone);
  files.back() = store.file().fd();
  return files;
}

}  // namespace

ResidentStore::Background::Background(FileStore& store, std::span<const std::byte> memory,
                                      ReconciliationOwner& owner)
    : run(store, memory, thread, owner), thread(store.number(), files_of(store), "file") {}

ResidentStore::ResidentStore(std::string name, FileStore& store, std::span<std::byte> memory,
                             ResidentContent content, const Cancellation* cancellation)
    : name_(std::move(name)), store_(store), memory_(memory) {
  ReconciliationOwner& owner = *this;
  if (!store_.file().read_only()) {
    background_ = std::make_unique<Background>(store_, memory_, owner);
  }
  content == ResidentContent::none ? load(cancellation) : take_over(content);
}

ResidentStore::~ResidentStore() {
  if (!background_) return;
  background_->run.stop();
  std::unique_lock lock(mutex_);
  stopping_ = true;
  ended_.wait(lock, [this] { return !running_; });
}

void ResidentStore::load(const Cancellation* cancellation) {
  Progress progress({fmt::format("export '{}'", name_),
                     fmt::format("loading {}:", store_.file().path()), "loaded"},
                    memory_.size(), standard_progress_output());
  try {
    const std::uint64_t holes = load_file(store_.file(), memory_, [&](std::uint64_t done) {
      if (cancellation != nullptr) cancellation->check();
      progress.show(done);
    });
    progress.finish(holes > 0 ? fmt::format(", {} of it holes", format_size(holes)) : "");
  } catch (const SystemError& error) {
    throw Error(fmt::format("export '{}' cannot be loaded: {}", name_, error.what()));
  }
}

void ResidentStore::take_over(ResidentContent content) noexcept {
  if (content == ResidentContent::file) return;
  // No number of failures is this one: everything is written.
  if (content == ResidentContent::suspect) repaired_ = std::numeric_limits<std::uint64_t>::max();
  spdlog::info("export '{}': comparing what an earlier process left in memory with {}", name_,
               store_.file().path());
  reconcile();
}

void ResidentStore::reconcile() noexcept {
  if (!background_) return;
  const std::lock_guard lock(mutex_);
  request();
}

void ResidentStore::enter() noexcept {
  const std::lock_guard lock(mutex_);
  ++writers_;
}

void ResidentStore::leave() noexcept {
  const std::lock_guard lock(mutex_);
  --writers_;
  if (background_) request();
}

bool ResidentStore::await_others(Waiter& waiter) noexcept {
  const std::lock_guard lock(mutex_);
  const bool shared = writers_ > 1;
  if (!shared && settled_ == requested_) return false;
  // What others are writing now takes a run that begins after now; what others left, any that is
  // for it.
  const bool is_under_way = running_ && begun_ == requested_;
  if (!running_ || (shared && is_under_way)) request();
  waiter.number = requested_;
  waiters_.push_back(waiter);
  return true;
}

/// @param error of the run that has ended.
void ResidentStore::tell_waiters(int error) noexcept {
  while (!waiters_.empty() && waiters_.front().number <= begun_) {
    Waiter& waiter = waiters_.front();
    waiters_.pop_front();
    waiter.on_settled(error);
  }
}

void ResidentStore::request() noexcept {
  ++requested_;
  if (running_) return;
  running_ = true;
  background_->thread.post(start_);
}

void ResidentStore::start() noexcept {
  {
    const std::lock_guard lock(mutex_);
    begun_ = requested_;
  }
  background_->run.start(repaired_);
}

void ResidentStore::on_progress(std::uint64_t done) noexcept {
  if (!settling_) return;
  if (!progress_) {
    progress_.emplace(
        Progress::Words{fmt::format("export '{}'", name_),
                        fmt::format("comparing with {}:", store_.file().path()), "compared"},
        store_.file().size(), standard_progress_output());
  }
  progress_->show(done);
}

void ResidentStore::on_reconciled(const ReconciliationResult& result) noexcept {
  written_ += result.written;
  if (result.error == 0) repaired_ = result.failures;
  report(result);
  progress_.reset();
  const std::lock_guard lock(mutex_);
  if (result.error == 0) settled_ = begun_;
  tell_waiters(result.error);
  if (requested_ != begun_ && !stopping_) return background_->thread.post(start_);
  running_ = false;
  ended_.notify_all();  // with the lock: whoever waits may destroy this
}

void ResidentStore::report(const ReconciliationResult& result) noexcept {
  if (result.error == ECANCELED) return;
  if (result.error != 0) {
    const auto line = reports_.note(fmt::format(
        "export '{}': what was not flushed could not be written back: {} {}: {}; it is tried again "
        "when a writer leaves and when the target ends",
        name_, result.doing, store_.file().path(), errno_text(result.error)));
    if (line) spdlog::error("{}", *line);
    return;
  }
  if (progress_) {
    progress_->finish(fmt::format(", wrote {} of it back", format_size(result.written)));
  } else if (result.written > 0) {
    const auto line = reports_.note(fmt::format(
        "export '{}': wrote back {} that nobody had flushed", name_, format_size(result.written)));
    if (line) spdlog::info("{}", *line);
  }
}

bool ResidentStore::settle() noexcept {
  if (!background_) return true;
  std::unique_lock lock(mutex_);
  settling_ = true;
  for (int attempts = 0;; ++attempts) {
    ended_.wait(lock, [this] { return !running_; });
    if (settled_ == requested_ || attempts == 2) break;
    request();
  }
  settling_ = false;
  return settled_ == requested_;
}

}  // namespace rdmablk::target
