#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/protocol/io_messages.h"
#include "target/file_store.h"
#include "target/io_thread.h"
#include "target/resident_store.h"
#include "target/transfer.h"

namespace rdmablk::target {

class ResidentCommand;

/// What the commands of one queue share.
struct ResidentCommandContext {
  FileStore& store;
  ResidentStore& resident;
  Writer& writer;
  IoThread& thread;                             ///< that serves the queue
  unsigned buffers = RingOperation::kNoBuffer;  ///< the registered buffer that theirs lie in
  bool abandoned = false;                       ///< nobody waits for what is under way any more
};

/// Is told when a command has ended. On the queue's thread.
class ResidentCommandOwner {
 public:
  /// @param error 0 or an errno value.
  virtual void on_done(ResidentCommand& command, int error) noexcept = 0;

 protected:
  ~ResidentCommandOwner() = default;
};

/// The work on one FLUSH of a resident export: writes what lies in its ranges to the file, and
/// makes that stable unless more of them follow. One at a time, no allocation.
///
/// The initiator names what it has written itself. What others wrote, who have left or write now,
/// is found by comparing, before the flush ends.
///
/// Each piece is copied and written under the range lock over its blocks: so a copy never overtakes
/// a newer one. What else lies in the blocks is written as well, early.
class ResidentCommand {
 public:
  /// @param buffer for copies: whole blocks, in memory that no device reaches.
  ResidentCommand(const ResidentCommandContext& context, ResidentCommandOwner& owner,
                  unsigned number, std::span<std::byte> buffer);
  ResidentCommand(const ResidentCommand&) = delete;
  ResidentCommand& operator=(const ResidentCommand&) = delete;
  ~ResidentCommand() = default;

  unsigned number() const noexcept { return number_; }

  /// Begins; ends with on_done(), maybe from within.
  /// @param flush its message stays valid until then.
  void begin(const protocol::IoCommand& flush) noexcept;

 private:
  class Data final : public Transfer {
   public:
    explicit Data(ResidentCommand& command) noexcept : command_(command) {}
    void on_transferred(int error) noexcept override { command_.on_written(error); }

   private:
    ResidentCommand& command_;
  };
  class Hold final : public RangeLock::Hold {
   public:
    explicit Hold(ResidentCommand& command) noexcept : command_(command) {}
    void on_granted() noexcept override { command_.on_granted(); }

   private:
    ResidentCommand& command_;
  };
  class Others final : public ResidentStore::Waiter {
   public:
    explicit Others(ResidentCommand& command) noexcept : command_(command) {}
    void on_settled(int error) noexcept override { command_.on_settled(error); }

   private:
    ResidentCommand& command_;
  };
  class Flush final : public FlushGroup::Flush {
   public:
    explicit Flush(ResidentCommand& command) noexcept : command_(command) {}
    void on_flushed(int error) noexcept override { command_.on_flushed(error); }

   private:
    ResidentCommand& command_;
  };
  class Turn final : public IoTask {
   public:
    explicit Turn(ResidentCommand& command) noexcept : command_(command) {}
    void run() noexcept override { command_.on_turn(); }

   private:
    ResidentCommand& command_;
  };

  enum class Stage : std::uint8_t { writing, awaiting_others, flushing };

  void next_piece() noexcept;
  void on_granted() noexcept;
  void locked() noexcept;
  void on_written(int error) noexcept;
  void finish() noexcept;
  void on_settled(int error) noexcept;
  void flush() noexcept;
  void on_flushed(int error) noexcept;
  void on_turn() noexcept;

  const ResidentCommandContext& context_;
  ResidentCommandOwner& owner_;
  unsigned number_;
  std::span<std::byte> buffer_;
  Data data_{*this};
  Hold hold_{*this};
  Others others_{*this};
  Flush flush_{*this};
  Turn turn_{*this};

  protocol::IoCommand command_;
  std::size_t ranges_ = 0;      ///< of the command, that were begun
  std::uint64_t position_ = 0;  ///< of the file: up to where the current one is written
  std::uint64_t end_ = 0;       ///< of the file: where it ends
  Stage stage_ = Stage::writing;
  int error_ = 0;  ///< of what another thread did
};

}  // namespace rdmablk::target
