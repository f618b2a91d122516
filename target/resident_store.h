#pragma once

#include <atomic>
#include <boost/intrusive/slist.hpp>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "common/log_limiter.h"
#include "target/cancellation.h"
#include "target/file_store.h"
#include "target/io_thread.h"
#include "target/progress.h"
#include "target/reconciliation.h"

namespace rdmablk::target {

/// The file behind a resident export and the memory that it is served from. What initiators flush
/// is written back by their queues; this loads the memory, and finds what was written to it and
/// never flushed, by comparing it with the file, on a thread of its own.
/// What the memory of a resident export holds at first.
enum class ResidentContent {
  none,     ///< zeroes: the file is to be loaded
  file,     ///< what is in the file
  newer,    ///< what the file may lack in part
  suspect,  ///< the same, and the file may lack even what reading it shows
};

class ResidentStore final : private ReconciliationOwner {
 public:
  /// Loads the file into the memory, showing how far it has come, or begins to write back what it
  /// lacks. Throws Error.
  /// @param name of the export, for messages. @param memory of the file's size, served by devices
  /// while this compares and writes it. Both outlive this, as the store does. The memory may grow
  /// and shrink in place: this goes by the size of the file.
  /// @param cancellation ends loading early; null: nothing does.
  ResidentStore(std::string name, FileStore& store, std::span<std::byte> memory,
                ResidentContent content = ResidentContent::none,
                const Cancellation* cancellation = nullptr);

  /// Ends what is under way, early.
  ~ResidentStore();
  ResidentStore(const ResidentStore&) = delete;
  ResidentStore& operator=(const ResidentStore&) = delete;

  FileStore& store() const noexcept { return store_; }
  std::span<std::byte> memory() const noexcept { return memory_; }

  /// Somebody begins to write. Any thread.
  void enter() noexcept;

  /// Somebody who wrote has left: see reconcile(). Any thread.
  void leave() noexcept;

  /// Begins to make the file equal to the memory, in the background. What fails is logged, and
  /// tried again when the next one asks. Any thread.
  void reconcile() noexcept;

  /// A flush that waits for what others wrote; made and owned by who asks.
  class Waiter : public boost::intrusive::slist_base_hook<> {
   public:
    std::uint64_t number = 0;  ///< set by await_others()

    /// The file holds what others have written, stable (0), or does not (an errno value). On
    /// another thread, with a lock held: must not call back.
    virtual void on_settled(int error) noexcept = 0;

   protected:
    ~Waiter() = default;
  };

  /// For a flush of a writer, which knows of its own writes alone: whether the file may lack what
  /// others wrote, who have left, or are here. If so it is made equal to the memory, and the
  /// waiter is told. Any thread.
  bool await_others(Waiter& waiter) noexcept;

  /// Makes the file equal to the memory, and stable, unless nobody has written since the last time;
  /// waits for that, and shows how far it has come. When no queue is left that writes. Logs what
  /// fails; tries again once.
  /// @return whether the file holds everything.
  bool settle() noexcept;

  /// Bytes that reconciling has written to the file.
  std::uint64_t written() const noexcept { return written_; }

 private:
  /// What compares and writes; an export that nobody may write to has none.
  struct Background {
    Background(FileStore& store, std::span<const std::byte> memory, ReconciliationOwner& owner);

    Reconciliation run;
    IoThread thread;  // ends first: it is still in a run when that says that it has ended
  };
  class Start final : public IoTask {
   public:
    explicit Start(ResidentStore& resident) noexcept : resident_(resident) {}
    void run() noexcept override { resident_.start(); }

   private:
    ResidentStore& resident_;
  };

  void load(const Cancellation* cancellation);
  void take_over(ResidentContent content) noexcept;
  void request() noexcept;
  void tell_waiters(int error) noexcept;
  void start() noexcept;
  void on_progress(std::uint64_t done) noexcept override;
  void on_reconciled(const ReconciliationResult& result) noexcept override;
  void report(const ReconciliationResult& result) noexcept;

  std::string name_;
  FileStore& store_;
  std::span<std::byte> memory_;
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic<bool> settling_ = false;  ///< somebody waits

  // Of the thread.
  Start start_{*this};
  std::optional<Progress> progress_;
  LogLimiter reports_;          ///< whoever attaches, writes and leaves again causes them
  std::uint64_t repaired_ = 0;  ///< failed flushes whose consequences have been made good

  std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t requested_ = 0;  ///< counts what asked for the file to be made equal
  std::uint64_t begun_ = 0;      ///< of these, those that the last run was for
  std::uint64_t settled_ = 0;    ///< of these, those that a run has fulfilled
  boost::intrusive::slist<Waiter, boost::intrusive::cache_last<true>> waiters_;
  std::size_t writers_ = 0;
  bool running_ = false;
  bool stopping_ = false;

  std::unique_ptr<Background> background_;
};

}  // namespace rdmablk::target
