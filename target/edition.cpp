#include "target/edition.h"

#include <algorithm>
#include <utility>

namespace rdmablk::target {
namespace {

void add(Footprint& sum, const RegisteredTable* table, bool alone) noexcept {
  if (table == nullptr) return;
  sum.memory_regions += 1;
  sum.bytes += table->chunks().size() * protocol::ChunkEntry::kSize;
  for (const auto& chunk : table->chunks()) {
    if (alone && chunk.use_count() > 1) continue;
    ++sum.memory_regions;
    sum.bytes += chunk->size();
  }
}

}  // namespace

Footprint footprint_of(const Edition& edition, bool alone) noexcept {
  Footprint sum;
  for (const auto& [device, tables] : edition.tables) {
    add(sum, tables.read_only.get(), alone);
    add(sum, tables.read_write.get(), alone);
  }
  return sum;
}

std::vector<std::unique_ptr<Edition>> Editions::take_unused() {
  std::vector<std::unique_ptr<Edition>> unused;
  for (auto next = all_.begin(); next != all_.end();) {
    const auto place = next++;
    if ((*place)->users > 0 || next == all_.end()) continue;
    unused.push_back(std::move(*place));
    all_.erase(place);
  }
  return unused;
}

Edition* Editions::find(std::uint64_t number) noexcept {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [number](const auto& one) { return one->number == number; });
  return found == all_.end() ? nullptr : found->get();
}

std::vector<Edition::Tables> Editions::take_tables(ibv_context* device) {
  std::vector<Edition::Tables> taken;
  for (const auto& edition : all_) {
    auto found = edition->tables.extract(device);
    if (found) taken.push_back(std::move(found.mapped()));
  }
  return taken;
}

bool Editions::has_larger() const noexcept {
  return std::any_of(all_.begin(), all_.end(),
                     [&](const auto& one) { return one->size > current().size; });
}

void Editions::release(Edition& edition) noexcept {
  if (--edition.users == 0 && &edition != all_.back().get() && told_) told_();
}

EditionUse::EditionUse(Editions& editions) : editions_(editions), known_(&use_current()) {}

EditionUse::~EditionUse() {
  editions_.release(*known_);
  if (announced_ != nullptr) editions_.release(*announced_);
}

Edition& EditionUse::use_current() noexcept {
  Edition& edition = *editions_.all_.back();
  ++edition.users;
  return edition;
}

std::uint64_t EditionUse::known_size() const noexcept {
  return announced_ == nullptr ? known_->size : std::max(known_->size, announced_->size);
}

const Edition* EditionUse::find(std::uint64_t number) const noexcept {
  if (known_->number == number) return known_;
  return announced_ != nullptr && announced_->number == number ? announced_ : nullptr;
}

bool EditionUse::is_current() const noexcept {
  const Edition* const last = announced_ != nullptr ? announced_ : known_;
  return last == editions_.all_.back().get();
}

void EditionUse::announce() noexcept {
  if (announced_ == nullptr) announced_ = &use_current();
}

void EditionUse::acknowledge() noexcept {
  if (announced_ == nullptr) return;
  editions_.release(*std::exchange(known_, std::exchange(announced_, nullptr)));
}

}  // namespace rdmablk::target
