#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "common/error.h"
#include "common/units.h"
#include "target/export.h"

// How an export gets another size.

namespace rdmablk::target {

using protocol::Access;
using protocol::ExportKind;

/// @param size that is covered, of the memory that there is.
std::unique_ptr<Edition> Export::make_edition(std::uint64_t size) const {
  auto edition = std::make_unique<Edition>();
  const Edition* const before = editions_.all().empty() ? nullptr : &editions_.current();
  edition->number = before == nullptr ? 1 : before->number + 1;
  edition->size = size;
  for (const auto& [device, registrations] : registrations_) {
    edition->tables[device] = make_tables(registrations, edition->number, size,
                                          before == nullptr ? nullptr : &before->tables.at(device));
  }
  return edition;
}

/// @param before of another edition on the same device; null: there is none.
Edition::Tables Export::make_tables(const std::shared_ptr<Registrations>& registrations,
                                    std::uint64_t number, std::uint64_t size,
                                    const Edition::Tables* before) const {
  const auto memory = std::span(memory_->bytes().data(), size);
  Edition::Tables made;
  made.owner = registrations;
  made.read_only = registrations->read_only.make_table(
      memory, number, before == nullptr ? nullptr : before->read_only.get());
  if (!registrations->read_write) return made;
  made.read_write = registrations->read_write->make_table(
      memory, number, before == nullptr ? nullptr : before->read_write.get());
  return made;
}

std::optional<std::string> Export::refuse_size(std::uint64_t size) const {
  if (size == 0 || size % kSectorSize != 0 || size > INT64_MAX) {
    return fmt::format("{} bytes are no size of an export: a multiple of {} is", size, kSectorSize);
  }
  if (store_ && size % store_->file().alignment() != 0) {
    return fmt::format(
        "{} is read and written past the page cache, in blocks of {}: its size has to be a "
        "multiple "
        "of that",
        store_->file().path(), store_->file().alignment());
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Export::size_of_its_own() const noexcept {
  if (!store_ || store_->file().can_resize()) return std::nullopt;
  return store_->file().found_size();
}

void Export::prepare_resize(std::uint64_t size) {
  if (store_ && !store_->file().can_resize()) store_->file().check_has(size);
  if (size > spec_.size) return grow(size);
  next_ = make_edition(size);
}

/// Memory before the file: it is the sooner undone.
void Export::grow(std::uint64_t size) {
  const std::uint64_t before = spec_.size;
  bool is_noted = false;
  try {
    if (memory_) memory_->grow(size);
    next_ = make_edition(size);
    identity_->begin_resize(size);
    is_noted = true;
    if (store_ && store_->file().can_resize()) store_->file().grow(size, spec_.sparse);
    identity_->end_resize(size);
  } catch (...) {
    next_.reset();
    if (memory_) memory_->shrink(before);
    if (is_noted) give_up_growth();
    throw;
  }
}

/// Of the file, and of what is known of it.
void Export::give_up_growth() noexcept {
  try {
    if (store_ && store_->file().can_resize()) store_->file().truncate();
  } catch (const std::exception& error) {
    return spdlog::warn("{}", error.what());  // either size is recognised
  }
  identity_->cancel_resize();
}

void Export::publish_resize() {
  spec_.size = next_->size;
  if (spec_.file_size) spec_.file_size = next_->size;
  const bool grows = editions_.current().size < next_->size;
  editions_.publish(std::move(next_));
  if (grows && store_) store_->grow_to(spec_.size);
}

void Export::abandon_resize() noexcept {
  next_.reset();
}

void Export::cut() {
  const std::uint64_t size = spec_.size;
  identity_->begin_resize(size);
  if (store_) store_->cut_to(size);
  identity_->end_resize(size);
  if (memory_) memory_->shrink(size);
}

}  // namespace rdmablk::target
