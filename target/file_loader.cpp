#include "target/file_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "target/io_uring.h"
#include "target/transfer.h"

namespace rdmablk::target {
namespace {

constexpr std::size_t kPieces = 16;
constexpr std::uint64_t kPieceSize = std::uint64_t{1} << 20;

class Loader {
 public:
  Loader(const BackingFile& file, std::span<std::byte> memory)
      : file_(file), memory_(memory), ring_(std::array{file.fd()}, 0) {
    for (std::size_t i = 0; i < kPieces; ++i) pieces_.emplace_back(*this);
  }

  std::uint64_t run(const std::function<void(std::uint64_t)>& progress) {
    for (Piece& piece : pieces_) next(piece);
    while (ring_.in_flight() > 0) {
      ring_.run(true);
      try {
        progress(read_ + left_out_);
      } catch (...) {
        fail("go on loading", position_, ECANCELED);  // what is under way ends with the ring
        throw;
      }
    }
    if (error_ != 0) {
      throw SystemError(fmt::format("{} {}, at byte {}", doing_, file_.path(), failed_at_), error_);
    }
    return left_out_;
  }

 private:
  class Piece final : public Transfer {
   public:
    explicit Piece(Loader& loader) noexcept : loader_(loader) {}

    void read(const TransferPlan& plan) noexcept {
      offset_ = plan.offset;
      length_ = plan.length;
      start(loader_.ring_, plan);
    }

   private:
    void on_transferred(int error) noexcept override {
      if (error != 0) return loader_.fail("read", offset_, error);
      loader_.read_ += length_;
      loader_.next(*this);
    }

    Loader& loader_;
    std::uint64_t offset_ = 0;
    std::uint64_t length_ = 0;
  };

  void fail(const char* doing, std::uint64_t offset, int error) noexcept {
    if (error_ != 0) return;
    doing_ = doing;
    failed_at_ = offset;
    error_ = error;
  }

  /// Has a piece read what comes next, if there is anything.
  void next(Piece& piece) noexcept {
    if (error_ != 0 || !find_data()) return;
    TransferPlan plan;
    plan.data = memory_.data() + position_;
    plan.length = std::min(kPieceSize, data_end_ - position_);
    plan.offset = position_;
    plan.alignment = file_.alignment();
    position_ += plan.length;
    piece.read(plan);
  }

  /// Moves on to where something is stored. Where that begins and ends need not be where direct I/O
  /// may: whole blocks are read.
  bool find_data() noexcept {
    const std::uint64_t block = file_.alignment();
    while (position_ == data_end_) {
      if (position_ == file_.size()) return false;
      std::array<protocol::Extent, 2> extents;
      std::size_t count = 0;
      const int error = file_.map(position_, file_.size() - position_, extents, count);
      if (error != 0) {
        fail("find the holes of", position_, error);
        return false;
      }
      const auto& [first, second] = extents;
      const std::uint64_t hole = first.is_hole ? first.length & ~(block - 1) : 0;
      const std::uint64_t stored =
          first.length - hole + (first.is_hole && count > 1 ? second.length : 0);
      left_out_ += hole;
      position_ += hole;
      data_end_ = std::min(position_ + round_up(stored, block), file_.size());
    }
    return true;
  }

  const BackingFile& file_;
  std::span<std::byte> memory_;
  std::uint64_t position_ = 0;  ///< up to where pieces have been given out
  std::uint64_t data_end_ = 0;  ///< of the extent that this is in
  std::uint64_t read_ = 0;      ///< bytes
  std::uint64_t left_out_ = 0;  ///< bytes
  const char* doing_ = "";      ///< what failed
  std::uint64_t failed_at_ = 0;
  int error_ = 0;
  std::deque<Piece> pieces_;
  IoUring ring_;  // outlived by its operations
};

}  // namespace

std::uint64_t load_file(const BackingFile& file, std::span<std::byte> memory,
                        const std::function<void(std::uint64_t)>& progress) {
  return Loader(file, memory).run(progress);
}

}  // namespace rdmablk::target
