#include "initiator/dirty_map.h"

#include <algorithm>
#include <bit>

namespace rdmablk::initiator {
namespace {

constexpr unsigned kMinShift = 12;

/// The most granules: 4 MiB of bits, and as many of the snapshot.
constexpr std::uint64_t kMaxGranules = std::uint64_t{1} << 25U;

/// How far an image may grow before the last granule becomes longer than the others, in bytes.
std::uint64_t room_for(std::uint64_t size) {
  constexpr std::uint64_t kLeast = std::uint64_t{16} << 30U;
  return std::max(2 * size, kLeast);
}

constexpr std::uint64_t units(std::uint64_t size, unsigned shift) {
  return ((size - 1) >> shift) + 1;
}

unsigned shift_for(std::uint64_t size) {
  unsigned shift = kMinShift;
  while (units(size, shift) > kMaxGranules) ++shift;
  return shift;
}

/// Calls `visit` with the number of each bit that is set.
template <typename Visit>
void for_each_bit(std::uint64_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<unsigned>(std::countr_zero(bits)));
}

/// Sets bits; without writing when they are set already.
void set(std::atomic<std::uint64_t>& word, std::uint64_t bits) noexcept {
  if ((word.load() & bits) != bits) word.fetch_or(bits);
}

}  // namespace

// Sequentially consistent throughout: who marks sets a bit and then looks at the summary, who takes
// clears the summary and then looks at the bits; one of the two sees the other.

DirtyMap::DirtyMap(std::uint64_t size)
    : size_(size),
      shift_(shift_for(size)),
      granules_(std::min(units(room_for(size), shift_), kMaxGranules)),
      words_(granules_ / kBits + 1),
      summary_(words_.size() / kBits + 1),
      snapshot_(words_.size()),
      snapshot_summary_(summary_.size()) {}

void DirtyMap::mark(std::uint64_t offset, std::uint64_t length) noexcept {
  const std::uint64_t first = std::min(offset >> shift_, granules_ - 1);
  const std::uint64_t last = std::min((offset + length - 1) >> shift_, granules_ - 1);
  for (std::uint64_t granule = first; granule <= last;) {
    const std::uint64_t bit = granule % kBits;
    const std::uint64_t count = std::min(kBits - bit, last - granule + 1);
    mark_word(granule / kBits, (~Word{0} >> (kBits - count)) << bit);
    granule += count;
  }
}

/// The summary is looked at even if the bits were set: whoever set them may not have come to it.
void DirtyMap::mark_word(std::uint64_t index, Word bits) noexcept {
  set(words_[index], bits);
  set(summary_[index / kBits], Word{1} << (index % kBits));
}

void DirtyMap::take() noexcept {
  for (std::size_t i = 0; i < summary_.size(); ++i) {
    for_each_bit(snapshot_summary_[i], [&](unsigned bit) { snapshot_[i * kBits + bit] = 0; });
    snapshot_summary_[i] = summary_[i].load() == 0 ? 0 : summary_[i].exchange(0);
    for_each_bit(snapshot_summary_[i], [&](unsigned bit) {
      const std::size_t word = i * kBits + bit;
      snapshot_[word] = words_[word].exchange(0);
    });
  }
}

void DirtyMap::restore() noexcept {
  for (std::size_t i = 0; i < snapshot_summary_.size(); ++i) {
    for_each_bit(snapshot_summary_[i], [&](unsigned bit) {
      const std::size_t word = i * kBits + bit;
      if (snapshot_[word] != 0) mark_word(word, snapshot_[word]);
      snapshot_[word] = 0;
    });
    snapshot_summary_[i] = 0;
  }
}

bool DirtyMap::is_clean() const noexcept {
  // A word whose bit is not set in the summary may have been marked: whoever did is not through.
  return std::ranges::all_of(words_, [](const auto& word) { return word.load() == 0; });
}

/// The first granule from `from` on that is marked in the snapshot, or is not; granules_ when there
/// is none.
std::uint64_t DirtyMap::find(std::uint64_t from, bool marked) const noexcept {
  std::uint64_t word = from / kBits;
  Word mask = ~Word{0} << (from % kBits);
  while (word < snapshot_.size()) {
    const Word summary = snapshot_summary_[word / kBits] >> (word % kBits);
    if (marked && (summary & 1U) == 0) {  // to the next word that has any
      const unsigned rest = kBits - static_cast<unsigned>(word % kBits);
      word += std::min<unsigned>(static_cast<unsigned>(std::countr_zero(summary)), rest);
      mask = ~Word{0};
      continue;
    }
    const Word bits = (marked ? snapshot_[word] : ~snapshot_[word]) & mask;
    if (bits != 0) {
      return std::min(word * kBits + static_cast<unsigned>(std::countr_zero(bits)), granules_);
    }
    mask = ~Word{0};
    ++word;
  }
  return granules_;
}

std::optional<protocol::Range> DirtyMap::next(std::uint64_t offset) const noexcept {
  const std::uint64_t size = size_;
  if (offset >= size) return std::nullopt;
  // Within a granule is only what was told up to an end that the image does not have any more.
  const std::uint64_t granule = (offset + granule_mask()) >> shift_;
  if (granule >= granules_) return std::nullopt;
  const std::uint64_t first = find(granule, true);
  if (first == granules_ || first << shift_ >= size) return std::nullopt;
  const std::uint64_t end = find(first, false);
  const std::uint64_t start = first << shift_;
  const std::uint64_t stop = end == granules_ ? size : std::min(end << shift_, size);
  return protocol::Range{start, stop - start};
}

}  // namespace rdmablk::initiator
