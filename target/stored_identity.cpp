#include "target/stored_identity.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/random.h"
#include "common/uuid.h"
#include "target/generation.h"
#include "target/volatile_identity.h"

namespace rdmablk::target {

StoredIdentity::StoredIdentity(const StateDirectory& directory, std::string name, std::string path,
                               std::string key, const FoundContent& content)
    : directory_(directory), name_(std::move(name)), file_name_(std::move(key) + ".json") {
  state_.path = std::move(path);
  state_.file = content.file;
  state_.size = content.size;
  state_.boot = content.boot;
  state_.memory = content.memory;
  const auto before = find();
  if (before && before->file == state_.file) {
    state_.was_resized = before->was_resized || before->next_size.has_value();
  }
  content.inherited != nullptr ? adopt(*content.inherited, before) : adopt(before);
}

void StoredIdentity::begin() {
  const std::scoped_lock writing(writing_);
  write(state_);
}

std::optional<ExportState> StoredIdentity::find() const {
  const auto ignore = [this](std::string_view why) {
    spdlog::warn(
        "export '{}': {}/{} {}: initiators that hold what they did not flush will not come back",
        name_, directory_.path(), file_name_, why);
    return std::nullopt;
  };
  try {
    const auto text = directory_.read(file_name_);
    if (!text) {
      spdlog::info("export '{}': nothing is known of {} in {}", name_, state_.path,
                   directory_.path());
      return std::nullopt;
    }
    auto state = ExportState::decode(*text);
    return state ? state : ignore("is damaged");
  } catch (const SystemError& error) {
    return ignore(fmt::format("cannot be read ({})", errno_text(error.error())));
  }
}

void StoredIdentity::adopt(const std::optional<ExportState>& before) {
  state_.uuid = make_uuid();
  state_.generation = random_bytes<protocol::Generation>();
  state_.lease = first_lease();
  if (!before) return;
  state_.lease = before->lease;
  const FoundContent now{state_.file, state_.size, state_.boot, state_.memory, nullptr};
  switch (compare(*before, now)) {
    case Continuity::same:
      state_.generation = before->generation;
      state_.uuid = before->uuid;
      return;
    case Continuity::may_lack_writes:
      state_.uuid = before->uuid;
      return spdlog::warn(
          "export '{}': the target that served {} last did not end in order: what was not flushed "
          "may be lost, and initiators that hold such writes will not come back",
          name_, state_.path);
    case Continuity::other:
      if (before->file == state_.file) {
        return spdlog::warn("export '{}': {} was exported with {} bytes before, and is with {} now",
                            name_, state_.path, before->size, state_.size);
      }
      return spdlog::warn("export '{}': {} is not the file that was exported before", name_,
                          state_.path);
  }
}

/// The memory has everything, whatever the file has.
void StoredIdentity::adopt(const MemoryRecord& inherited,
                           const std::optional<ExportState>& before) {
  const bool is_of_another_time = before && before->memory != inherited.memory;
  if (is_of_another_time && !inherited.is_dirty) return adopt(before);  // it equals the file
  if (is_of_another_time) {
    throw Error(
        fmt::format("memory of export '{}' was kept, but {} has been served without it since: give "
                    "--discard {} to let go of that memory and serve what the file holds",
                    name_, state_.path, name_));
  }
  state_.uuid = inherited.uuid;
  state_.generation = inherited.generation;
  state_.lease = std::max(inherited.lease, before ? before->lease : 0);
  // Only half of a change has been noted.
  if (before && before->generation != inherited.generation) change(state_.generation);
}

void StoredIdentity::mirror(RecordMemory& memory) {
  const std::scoped_lock writing(writing_);
  mirror_ = &memory;
  update_mirror(memory.record().is_suspect);
}

void StoredIdentity::update_mirror(bool is_suspect) noexcept {
  if (mirror_ == nullptr) return;
  MemoryRecord record = mirror_->record();
  {
    const std::scoped_lock lock(mutex_);
    record.uuid = state_.uuid;
    record.generation = state_.generation;
    record.lease = state_.lease;
    record.is_resized = record.is_resized || state_.was_resized;
  }
  record.is_suspect = is_suspect;
  mirror_->update(record);
}

void StoredIdentity::note_writer() noexcept {
  const std::scoped_lock writing(writing_);
  if (mirror_ == nullptr) return;
  MemoryRecord record = mirror_->record();
  if (!std::exchange(record.is_unused, false)) return;
  mirror_->update(record);
}

protocol::Generation StoredIdentity::generation() const {
  const std::scoped_lock lock(mutex_);
  return state_.generation;
}

std::uint64_t StoredIdentity::last_lease() const noexcept {
  const std::scoped_lock lock(mutex_);
  return state_.lease;
}

std::uint64_t StoredIdentity::next_lease() {
  const std::scoped_lock writing(writing_);
  ExportState next;
  {
    const std::scoped_lock lock(mutex_);
    next = state_;
  }
  ++next.lease;
  write(next);
  {
    const std::scoped_lock lock(mutex_);
    state_.lease = next.lease;
  }
  update_mirror(mirror_ != nullptr && mirror_->record().is_suspect);
  return next.lease;
}

void StoredIdentity::mark_lost() noexcept {
  const std::scoped_lock writing(writing_);
  ExportState next;
  {
    const std::scoped_lock lock(mutex_);
    change(state_.generation);
    state_.clean = false;
    next = state_;
  }
  update_mirror(true);
  try {
    write(next);
    return;
  } catch (const std::exception& error) {
    tell(error.what());
  }
  try {
    // Knowing nothing is as good: to remove a file takes no room.
    directory_.remove(file_name_);
  } catch (const std::exception& error) {
    tell(fmt::format(
        "export '{}': {}: if this target is killed now, initiators may come back that miss writes "
        "which failed; unmount them before it is started again",
        name_, error.what()));
  }
}

void StoredIdentity::tell(const std::string& trouble) {
  if (const auto line = troubles_.note(trouble)) spdlog::error("{}", *line);
}

bool StoredIdentity::was_being_resized(const StateDirectory& directory, const std::string& key,
                                       std::uint64_t first, std::uint64_t second) {
  const auto text = directory.read(key + ".json");
  const auto state = text ? ExportState::decode(*text) : std::nullopt;
  if (!state || !state->next_size) return false;
  const std::pair sizes{state->size, *state->next_size};
  return sizes == std::pair(first, second) || sizes == std::pair(second, first);
}

bool StoredIdentity::was_resized_to(const StateDirectory& directory, const std::string& key,
                                    const std::string& incarnation, std::uint64_t size) {
  const auto text = directory.read(key + ".json");
  const auto state = text ? ExportState::decode(*text) : std::nullopt;
  if (!state || state->file != incarnation) return false;
  return (state->was_resized && state->size == size) || state->next_size == size ||
         (state->next_size && state->size == size);
}

void StoredIdentity::begin_resize(std::uint64_t size) {
  const std::scoped_lock writing(writing_);
  note_size(state_.size, size);
}

void StoredIdentity::end_resize(std::uint64_t size) {
  const std::scoped_lock writing(writing_);
  if (mirror_ == nullptr) return note_size(size, std::nullopt);
  const MemoryRecord before = mirror_->record();
  MemoryRecord record = before;
  record.size = size;
  record.is_resized = true;
  mirror_->update(record);
  try {
    note_size(size, std::nullopt);
  } catch (...) {
    mirror_->update(before);
    throw;
  }
}

void StoredIdentity::cancel_resize() noexcept {
  try {
    const std::scoped_lock writing(writing_);
    note_size(state_.size, std::nullopt);
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());  // a size that is not taken is no harm
  }
}

/// @pre writing_ is held.
void StoredIdentity::note_size(std::uint64_t size, std::optional<std::uint64_t> next) {
  ExportState noted;
  {
    const std::scoped_lock lock(mutex_);
    noted = state_;
  }
  noted.size = size;
  noted.next_size = next;
  noted.was_resized = noted.was_resized || (!next && size != state_.size);
  write(noted);
  const std::scoped_lock lock(mutex_);
  state_.size = noted.size;
  state_.next_size = noted.next_size;
  state_.was_resized = noted.was_resized;
}

void StoredIdentity::mark_clean(const std::string& file) {
  const std::scoped_lock writing(writing_);
  ExportState next;
  {
    const std::scoped_lock lock(mutex_);
    state_.file = file;
    state_.clean = true;
    next = state_;
  }
  write(next);
}

void StoredIdentity::write(const ExportState& state) const {
  try {
    directory_.write(file_name_, state.encode());
  } catch (const SystemError& error) {
    throw Error(
        fmt::format("the state of export '{}' cannot be kept: {}; make room, or choose "
                    "another directory with --state-dir",
                    name_, error.what()));
  }
}

}  // namespace rdmablk::target
