#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "common/memory_mapping.h"
#include "target/file_store.h"
#include "target/io_thread.h"
#include "target/transfer.h"

namespace rdmablk::target {

/// What a reconciliation came to.
struct ReconciliationResult {
  const char* doing = "";      ///< what failed
  int error = 0;               ///< 0 or an errno value
  std::uint64_t written = 0;   ///< bytes
  std::uint64_t failures = 0;  ///< FlushGroup::failures() before it began
};

/// Is told how a reconciliation goes. On its thread.
class ReconciliationOwner {
 public:
  /// @param done bytes of the file that are equal now; grows to its size.
  virtual void on_progress(std::uint64_t done) noexcept = 0;

  /// It has ended, and may be started again.
  virtual void on_reconciled(const ReconciliationResult& result) noexcept = 0;

 protected:
  ~ReconciliationOwner() = default;
};

/// Makes a file equal to the memory that it was loaded into, and stable: compares piece by piece,
/// and writes the blocks that differ. It holds the range lock over a piece while it does so, or the
/// copy that it writes could overtake a newer one. A copy is what is written, since devices may
/// write to the memory meanwhile.
class Reconciliation {
 public:
  /// All outlive this. @param memory stays where it is, and covers the file whatever its size.
  /// @param thread whose ring has the store's file.
  Reconciliation(FileStore& store, std::span<const std::byte> memory, IoThread& thread,
                 ReconciliationOwner& owner);
  Reconciliation(const Reconciliation&) = delete;
  Reconciliation& operator=(const Reconciliation&) = delete;
  ~Reconciliation() = default;

  /// Begins; ends with on_reconciled(), maybe from within. One at a time, on the thread.
  /// @param repaired the number of failed flushes whose consequences have been made good. After
  /// others, all blocks are written: a write to the file got lost, and what is read of it comes
  /// from the kernel's memory, not from the disk.
  void start(std::uint64_t repaired) noexcept;

  /// Has it end early, with ECANCELED; for good. Any thread.
  void stop() noexcept { stopped_ = true; }

 private:
  /// A part of the file at a time.
  class Piece {
   public:
    Piece(Reconciliation& run, std::size_t number) noexcept : run_(run), number_(number) {}

    void begin(std::uint64_t offset, std::uint64_t length) noexcept;

   private:
    class Data final : public Transfer {
     public:
      explicit Data(Piece& piece) noexcept : piece_(piece) {}
      void on_transferred(int error) noexcept override { piece_.on_transferred(error); }

     private:
      Piece& piece_;
    };
    class Hold final : public RangeLock::Hold {
     public:
      explicit Hold(Piece& piece) noexcept : piece_(piece) {}
      void on_granted() noexcept override;

     private:
      Piece& piece_;
    };
    class Turn final : public IoTask {
     public:
      explicit Turn(Piece& piece) noexcept : piece_(piece) {}
      void run() noexcept override { piece_.locked(); }

     private:
      Piece& piece_;
    };

    void locked() noexcept;
    void on_transferred(int error) noexcept;
    void write_next() noexcept;
    bool differs(std::uint64_t offset) const noexcept;
    std::uint64_t block_end(std::uint64_t offset) const noexcept;
    void transfer(RingOperation::Kind kind, std::uint64_t offset, std::uint64_t length) noexcept;

    Reconciliation& run_;
    std::size_t number_;
    Data data_{*this};
    Hold hold_{*this};
    Turn turn_{*this};
    std::byte* buffer_ = nullptr;
    std::uint64_t length_ = 0;   ///< of the piece; it begins at hold_.begin
    std::uint64_t checked_ = 0;  ///< of these, compared, and written where they differed
    std::uint64_t writing_ = 0;  ///< behind these, being written; zero: being read
  };

  class Flush final : public FlushGroup::Flush {
   public:
    explicit Flush(Reconciliation& run) noexcept : run_(run) {}
    void on_flushed(int error) noexcept override;

   private:
    Reconciliation& run_;
  };
  class Turn final : public IoTask {
   public:
    explicit Turn(Reconciliation& run) noexcept : run_(run) {}
    void run() noexcept override { run_.flushed(); }

   private:
    Reconciliation& run_;
  };

  void next(Piece& piece) noexcept;
  void piece_done(Piece& piece) noexcept;
  void fail(const char* doing, int error) noexcept;
  void flush() noexcept;
  void flushed() noexcept;
  void end() noexcept;

  FileStore& store_;
  std::span<const std::byte> memory_;
  IoThread& thread_;
  ReconciliationOwner& owner_;
  std::deque<Piece> pieces_;
  Flush flush_{*this};
  Turn turn_{*this};
  std::atomic<bool> stopped_ = false;

  MemoryMapping buffers_;  ///< while it runs
  unsigned buffer_ = RingOperation::kNoBuffer;
  bool everything_ = false;
  std::uint64_t position_ = 0;  ///< up to where pieces have been given out
  std::uint64_t done_ = 0;      ///< bytes
  std::size_t active_ = 0;      ///< pieces
  int flush_error_ = 0;
  ReconciliationResult result_;
};

}  // namespace rdmablk::target
