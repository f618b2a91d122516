#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/protocol/io_messages.h"
#include "target/file_store.h"
#include "target/io_thread.h"
#include "target/transfer.h"

namespace rdmablk::target {

class FileCommand;

/// What the commands of one queue share.
struct FileCommandContext {
  FileStore& store;
  Writer* writer;                             ///< null on a read-only attachment
  IoThread& thread;                           ///< that serves the queue
  IoThread& blocking;                         ///< for system calls that block
  unsigned slots = RingOperation::kNoBuffer;  ///< the registered buffer that the slots lie in
  unsigned edges = RingOperation::kNoBuffer;  ///< that the edges lie in
  bool abandoned = false;                     ///< nobody waits for what is under way any more
};

/// Is told when a command has ended. On the queue's thread.
class FileCommandOwner {
 public:
  /// @param error 0 or an errno value.
  virtual void on_done(FileCommand& command, int error) noexcept = 0;

 protected:
  ~FileCommandOwner() = default;
};

/// The work on one slot's request, from its arrival to its reply: one request at a time, no
/// allocation.
///
/// Whoever writes, zeroes or discards holds the range lock over the blocks that it touches. With
/// direct I/O the blocks that it covers in part are read, completed and written whole.
class FileCommand {
 public:
  /// @param slot its memory; @param edges two blocks, or nothing with an alignment of 1.
  FileCommand(const FileCommandContext& context, FileCommandOwner& owner, unsigned number,
              std::span<std::byte> slot, std::span<std::byte> edges);
  FileCommand(const FileCommand&) = delete;
  FileCommand& operator=(const FileCommand&) = delete;
  ~FileCommand() = default;

  unsigned number() const noexcept { return number_; }

  /// Of the request that it works on, or that has just ended.
  protocol::MessageType type() const noexcept { return type_; }

  /// Begins to work on a request within the file; ends with on_done(), maybe from within.
  /// @param reply where the payload of the reply goes, if it has one.
  void begin(protocol::MessageType type, const protocol::IoRequest& request,
             std::span<std::byte> reply) noexcept;

  /// Bytes of the reply's payload, once it has ended.
  std::size_t reply_size() const noexcept { return reply_size_; }

 private:
  /// What goes on when the transfer, the lock, the flush or the other thread is through.
  enum class Stage : std::uint8_t {
    idle,
    reading,       ///< into the slot
    locking,       ///< the range
    reading_head,  ///< the first block of a write
    reading_tail,  ///< the last block
    writing,       ///< the blocks
    flushing,
    mapping,  ///< on the thread that may block
  };

  // What it does with others, each of which calls back.
  class Data final : public Transfer {
   public:
    explicit Data(FileCommand& command) noexcept : command_(command) {}
    void on_transferred(int error) noexcept override { command_.on_transferred(error); }

   private:
    FileCommand& command_;
  };
  class Allocation final : public RingOperation {
   public:
    explicit Allocation(FileCommand& command) noexcept : command_(command) {}
    void on_result(int result) noexcept override { command_.on_allocated(result); }

   private:
    FileCommand& command_;
  };
  class Hold final : public RangeLock::Hold {
   public:
    explicit Hold(FileCommand& command) noexcept : command_(command) {}
    void on_granted() noexcept override { command_.on_granted(); }

   private:
    FileCommand& command_;
  };
  class Flush final : public FlushGroup::Flush {
   public:
    explicit Flush(FileCommand& command) noexcept : command_(command) {}
    void on_flushed(int error) noexcept override { command_.on_flushed(error); }

   private:
    FileCommand& command_;
  };
  class Turn final : public IoTask {
   public:
    explicit Turn(FileCommand& command) noexcept : command_(command) {}
    void run() noexcept override { command_.on_turn(); }

   private:
    FileCommand& command_;
  };

  void on_transferred(int error) noexcept;
  void on_allocated(int result) noexcept;
  void on_granted() noexcept;
  void on_flushed(int error) noexcept;
  void on_turn() noexcept;

  void read() noexcept;
  void lock() noexcept;
  void locked() noexcept;
  void write_piece(std::uint64_t begin, std::uint64_t end) noexcept;
  void read_tail() noexcept;
  void fill_head() noexcept;
  void fill_tail() noexcept;
  void write_blocks() noexcept;
  void zero_next() noexcept;
  void write_zeroes(std::uint64_t end) noexcept;
  bool punches() const noexcept;
  bool can_allocate() const noexcept;
  void allocate(std::uint64_t length) noexcept;
  void flush() noexcept;
  void map() noexcept;
  void finish(int error) noexcept;
  void done(int error) noexcept;
  void transfer(Stage stage, RingOperation::Kind kind, std::span<std::byte> memory, unsigned buffer,
                std::uint64_t offset) noexcept;

  bool writes() const noexcept;
  bool is_durable() const noexcept;
  bool writes_through() const noexcept;
  bool discards() const noexcept;
  std::uint64_t down(std::uint64_t offset) const noexcept;
  std::uint64_t up(std::uint64_t offset) const noexcept;

  const FileCommandContext& context_;
  FileCommandOwner& owner_;
  unsigned number_;
  std::uint64_t alignment_;
  std::span<std::byte> slot_;
  std::span<std::byte> edges_;
  Data data_{*this};
  Allocation allocation_{*this};
  Hold hold_{*this};
  Flush flush_{*this};
  Turn turn_{*this};

  protocol::MessageType type_{};
  protocol::IoRequest request_;
  Stage stage_ = Stage::idle;
  int error_ = 0;                  ///< of what another thread did
  std::uint64_t piece_begin_ = 0;  ///< of the file: what is being written
  std::uint64_t piece_end_ = 0;
  std::uint64_t zeroed_ = 0;  ///< of the file: up to where a ZERO has come
  std::span<std::byte> reply_;
  std::size_t reply_size_ = 0;
};

}  // namespace rdmablk::target
