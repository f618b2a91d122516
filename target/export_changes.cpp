#include "target/export_changes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <exception>
#include <utility>

#include "common/counted.h"
#include "common/error.h"

namespace rdmablk::target {
namespace {

constexpr const char* kStopping = "the target is about to end";

}  // namespace

ExportChanges::ExportChanges(asio::io_context& io, Exports& exports, EndUsers end_users)
    : io_(io), exports_(exports), end_users_(std::move(end_users)), background_(io) {}

void ExportChanges::add(const ExportSpec& spec, Done done) {
  if (const auto why = reason_against(spec.name)) return done(*why);
  Addition& addition = additions_.emplace_back();
  addition.order.spec = spec;
  addition.done = std::move(done);
  if (additions_.size() == 1) begin_addition();
}

/// Why no export of this name can be made; nothing when one can.
std::optional<std::string> ExportChanges::reason_against(const std::string& name) const {
  if (cancellation_.is_cancelled()) return kStopping;
  if (std::any_of(removals_.begin(), removals_.end(),
                  [&](const Removal& removal) { return removal.name == name; })) {
    return fmt::format("the export '{}' that there was is still being removed; try again", name);
  }
  if (exports_.find(name) == nullptr) return std::nullopt;
  return fmt::format("there is an export '{}' already", name);
}

void ExportChanges::begin_addition() {
  Addition& addition = additions_.front();
  const ExportSpec& spec = addition.order.spec;
  // One before it may have had the same name.
  if (const auto why = reason_against(spec.name)) return end_addition(*why);
  try {
    if (spec.has_file()) {
      addition.order.file_number = exports_.io_threads().take_number();
      addition.is_numbered = true;
    }
  } catch (const Error& error) {
    return end_addition(error.what());
  }
  auto ground = exports_.ground();
  ground.cancellation = &cancellation_;
  background_.run(
      [this, &addition, others = exports_.specs(), ground] { make(addition, others, ground); },
      [this] { on_made(); });
}

/// On another thread.
void ExportChanges::make(Addition& addition, const std::vector<ExportSpec>& others,
                         const ExportGround& ground) {
  try {
    ExportGround with_state = ground;
    if (with_state.state == nullptr && needs_state(addition.order.spec)) {
      addition.state = open_state(ground.options);
      with_state.state = addition.state.get();
    }
    auto made = make_exports({&addition.order, 1}, others, {}, with_state);
    addition.made = std::move(made.front());
  } catch (const std::exception& error) {
    addition.failure = error.what();
  }
}

void ExportChanges::on_made() {
  Addition& addition = additions_.front();
  if (addition.state) exports_.set_state(std::move(addition.state));
  if (!addition.made) return drop(addition.failure);
  if (cancellation_.is_cancelled()) return drop(kStopping);
  addition.made->store() != nullptr ? put_on_rings() : keep_and_begin();
}

void ExportChanges::put_on_rings() {
  const Addition& addition = additions_.front();
  try {
    exports_.io_threads().add_file(
        addition.order.file_number, addition.made->store()->file().fd(),
        lifetime_.guard([this](int error) {
          if (error == 0) return keep_and_begin();
          drop(fmt::format("cannot register a file with an io_uring: {}", errno_text(error)));
        }));
  } catch (const std::exception& error) {
    drop(error.what());
  }
}

/// The last that can fail.
void ExportChanges::keep_and_begin() {
  Addition& addition = additions_.front();
  const auto work = [&addition, &service_manager = exports_.service_manager(),
                     others_are_kept = exports_.has_stored_memory()] {
    try {
      Export* const made = addition.made.get();
      keep_memory({&made, 1}, service_manager, others_are_kept);
      addition.made->begin();
      if (addition.made->store() != nullptr) addition.made->store()->keep();
    } catch (const std::exception& error) {
      addition.failure = error.what();
    }
  };
  background_.run(work, [this] { on_begun(); });
}

void ExportChanges::on_begun() {
  Addition& addition = additions_.front();
  if (!addition.failure.empty()) return drop(addition.failure);
  // Also when the target is about to end: its state says by now that it is served.
  exports_.offer(std::move(addition.made));
  end_addition(std::nullopt);
}

void ExportChanges::drop(std::string failure) {
  Addition& addition = additions_.front();
  addition.failure = std::move(failure);
  if (!addition.made || addition.made->store() == nullptr) return destroy_dropped();
  exports_.io_threads().remove_file(addition.order.file_number,
                                    lifetime_.guard([this](int /*error*/) { destroy_dropped(); }));
}

void ExportChanges::destroy_dropped() {
  Addition& addition = additions_.front();
  const auto work = [&addition, &service_manager = exports_.service_manager()] {
    if (addition.made && addition.made->is_in_store()) {
      service_manager.remove_memory(addition.order.spec.name);
    }
    addition.made.reset();
  };
  background_.run(work, [this] { end_addition(std::move(additions_.front().failure)); });
}

void ExportChanges::end_addition(std::optional<std::string> failure) {
  Addition addition = std::move(additions_.front());
  additions_.pop_front();
  const std::string& name = addition.order.spec.name;
  if (failure && addition.is_numbered) {
    exports_.io_threads().give_back(addition.order.file_number);
  }
  if (!failure) spdlog::info("export '{}': added", name);  // else whoever asked is told
  const bool is_next_waiting = !additions_.empty();
  addition.done(std::move(failure));  // may add one, which begins when none waited
  if (is_next_waiting) begin_addition();
}

void ExportChanges::remove(const std::string& name, const RemoveOptions& options, Done done) {
  if (cancellation_.is_cancelled()) return done(kStopping);
  Export* const exported = exports_.find(name);
  if (exported == nullptr) return done(fmt::format("there is no export '{}'", name));
  if (const auto why = reason_against(*exported, options)) return done(*why);
  spdlog::info("export '{}': is being removed", name);
  exports_.withdraw(*exported);
  const auto removal = removals_.emplace(removals_.end());
  removal->exported = exported;
  removal->name = name;
  removal->done = std::move(done);
  end_users_(*exported);
  exported->use().when_unused(
      [this, removal] { asio::post(io_, lifetime_.guard([this, removal] { settle(removal); })); });
}

/// Why an export cannot be removed that way; nothing when it can.
std::optional<std::string> ExportChanges::reason_against(Export& exported,
                                                         const RemoveOptions& options) const {
  const std::string& name = exported.spec().name;
  if (is_leaving(exported)) return fmt::format("export '{}' is being removed already", name);
  if (is_being_adopted(exported)) {
    return fmt::format("export '{}' is about to be kept; try again when that is done", name);
  }
  const std::size_t attachments = exported.use().attachments();
  if (attachments > 0 && !options.force) {
    return fmt::format(
        "export '{}' is in use, by {}: unmount it there first, or give --force: reads and "
        "writes of mounts wait then, as for a target that is away, and fail when the mount gives "
        "up (give_up=, 600 s by default)",
        name, counted(attachments, "attachment"));
  }
  if (exported.holds_data() && !options.discard) {
    return fmt::format(
        "export '{}' has data in its memory that nothing else has: copy what is needed, and give "
        "--discard to let go of it",
        name);
  }
  return std::nullopt;
}

bool ExportChanges::is_leaving(const Export& exported) const noexcept {
  return std::any_of(removals_.begin(), removals_.end(),
                     [&](const Removal& removal) { return removal.exported == &exported; });
}

void ExportChanges::adopt(const std::string& name, ExportOrigin origin, Done done) {
  if (cancellation_.is_cancelled()) return done(kStopping);
  Export* const exported = exports_.find(name);
  if (exported == nullptr) return done(fmt::format("there is no export '{}'", name));
  if (is_leaving(*exported)) return done(fmt::format("export '{}' is being removed", name));
  if (is_being_adopted(*exported)) {
    return done(fmt::format("export '{}' is about to be kept; try again when that is done", name));
  }
  exported->set_origin(origin);
  const auto adoption = adoptions_.insert(adoptions_.end(), {exported, std::move(done), {}});
  const auto work = [&adoption = *adoption, &service_manager = exports_.service_manager(),
                     others_are_kept = exports_.has_stored_memory()] {
    try {
      keep_memory({&adoption.exported, 1}, service_manager, others_are_kept);
    } catch (const std::exception& error) {
      adoption.failure =
          fmt::format("export '{}': {}", adoption.exported->spec().name, error.what());
    }
  };
  background_.run(work, [this, adoption] {
    const Adoption over = std::move(*adoption);
    adoptions_.erase(adoption);
    over.done(over.failure);
  });
}

bool ExportChanges::is_being_adopted(const Export& exported) const noexcept {
  return std::any_of(adoptions_.begin(), adoptions_.end(),
                     [&](const Adoption& adoption) { return adoption.exported == &exported; });
}

/// Nobody uses it any more.
void ExportChanges::settle(Removals::iterator removal) {
  const auto work = [&removal = *removal] {
    removal.is_settled = removal.exported->settle();
    if (!removal.is_settled) return;
    try {
      removal.exported->mark_clean();
    } catch (const std::exception& error) {
      spdlog::error("{}", error.what());  // its data is there; only nobody knows
    }
  };
  background_.run(work, [this, removal] { on_settled(removal); });
}

void ExportChanges::on_settled(Removals::iterator removal) {
  Export& exported = *removal->exported;
  if (!removal->is_settled) {
    exports_.restore(exported);
    spdlog::error("export '{}': stays, and is offered again", removal->name);
    return end_removal(
        removal,
        fmt::format(
            "export '{}' stays, and is offered again: not everything that was written to it "
            "has reached {}, the log says why; remove the cause and try again",
            removal->name, exported.backing_path()));
  }
  if (exported.store() == nullptr) return destroy(removal);
  exports_.io_threads().remove_file(
      exported.store()->number(), lifetime_.guard([this, removal](int error) {
        if (error != 0) {
          spdlog::error("cannot take a file off an io_uring: {}", errno_text(error));
        }
        destroy(removal);
      }));
}

/// What it takes to deregister and free memory grows with it.
void ExportChanges::destroy(Removals::iterator removal) {
  removal->taken = exports_.take_out(*std::exchange(removal->exported, nullptr));
  const auto work = [&removal = *removal, &service_manager = exports_.service_manager()] {
    if (removal.taken->is_in_store()) service_manager.remove_memory(removal.name);
    removal.taken.reset();
  };
  const auto* const store = removal->taken->store();
  const auto number = store != nullptr ? std::optional(store->number()) : std::nullopt;
  background_.run(work, [this, removal, number] {
    if (number) exports_.io_threads().give_back(*number);
    end_removal(removal, std::nullopt);
  });
}

void ExportChanges::end_removal(Removals::iterator removal, std::optional<std::string> failure) {
  const Done done = std::move(removal->done);
  if (!failure) spdlog::info("export '{}': removed", removal->name);
  removals_.erase(removal);
  done(std::move(failure));
}

void ExportChanges::stop() {
  cancellation_.cancel();
}

void ExportChanges::finish() {
  const auto work = asio::make_work_guard(io_);
  while (!is_idle()) {
    io_.restart();
    io_.run_one();
  }
}

}  // namespace rdmablk::target
