#pragma once

#include <cstdint>
#include <optional>

#include "initiator/copy/piece_worker.h"

namespace rdmablk::copy {

/// What is done where the destination is to have zeroes.
enum class Zeroes : std::uint8_t {
  skip,     ///< nothing: it has them already
  discard,  ///< the space is given back
  write,    ///< they are written, by the end that has them if it can
};

/// Copies pieces from the source to the destination.
class CopyWorker final : public PieceWorker {
 public:
  struct Options {
    Zeroes zeroes = Zeroes::write;

    /// Data is searched for zeroes in units of so many bytes; 0: it is not.
    std::size_t sparse_unit = 0;
  };

  CopyWorker(Lane& lane, CopyPlan& plan, const Options& options)
      : PieceWorker(lane, plan, 1), options_(options) {}

  /// Bytes that were written as data, and those that became, or were left as, zeroes. After run().
  std::uint64_t data_bytes() const noexcept { return data_bytes_; }
  std::uint64_t zero_bytes() const noexcept { return zero_bytes_; }

 private:
  enum Step : unsigned { kBegin, kRead, kWrite };

  bool advance(Slot& slot) override;
  bool begin(Slot& slot) noexcept;
  bool take_read(Slot& slot) noexcept;
  bool write_on(Slot& slot) noexcept;
  bool put_zeroes(Slot& slot, std::uint64_t length) noexcept;
  bool fits(const Slot& slot) noexcept;

  Options options_;
  std::uint64_t data_bytes_ = 0;
  std::uint64_t zero_bytes_ = 0;
};

}  // namespace rdmablk::copy
