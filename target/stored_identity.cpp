#include "target/stored_identity.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

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
  adopt(find());
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
  const FoundContent now{state_.file, state_.size, state_.boot, state_.memory};
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
      return spdlog::warn("export '{}': {} is not the file that was exported before", name_,
                          state_.path);
  }
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
  const std::scoped_lock lock(mutex_);
  state_.lease = next.lease;
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
  try {
    write(next);
    return;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
  }
  try {
    // Knowing nothing is as good: to remove a file takes no room.
    directory_.remove(file_name_);
  } catch (const std::exception& error) {
    spdlog::error(
        "export '{}': {}: if this target is killed now, initiators may come back that miss writes "
        "which failed; unmount them before it is started again",
        name_, error.what());
  }
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
