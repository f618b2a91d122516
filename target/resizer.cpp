#include "target/resizer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <exception>
#include <utility>

#include "common/counted.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "target/machine_memory.h"
#include "target/memlock_budget.h"

namespace rdmablk::target {
namespace {

using protocol::ExportKind;

constexpr const char* kStopping = "the target is about to end";

/// Checks that what is added to an export fits. @param specs of all exports, that one as it will
/// be.
/// @param added bytes. Throws Error.
void check_growth(const ExportSpec& spec, std::uint64_t added, const std::vector<ExportSpec>& specs,
                  std::size_t devices) {
  if (spec.kind == ExportKind::file) return;
  check_chunk_count(spec);
  check_memlock(specs, devices, verbs::memlock_limit());
  const auto memory = read_machine_memory();
  if (spec.huge_page != 0 || added <= memory.available) return;
  throw Error(fmt::format("it takes {} of memory more, and only {} of this machine's {} are free",
                          format_size(added), in_round_numbers(memory.available),
                          in_round_numbers(memory.total)));
}

}  // namespace

Resizer::Resizer(asio::io_context& io, Exports& exports, Sessions& sessions, ExportTurns& turns,
                 std::chrono::milliseconds patience)
    : io_(io),
      exports_(exports),
      sessions_(sessions),
      turns_(turns),
      patience_(patience),
      background_(io) {}

void Resizer::resize(const std::string& name, std::uint64_t size, Done done) {
  if (stopping_) return done(kStopping);
  Export* const exported = exports_.find(name);
  if (exported == nullptr) return done(fmt::format("there is no export '{}'", name));
  if (const auto why = reason_against(*exported, size)) {
    return done(fmt::format("export '{}' cannot be resized: {}", name, *why));
  }
  if (size == exported->spec().size) return done(std::nullopt);
  spdlog::info("export '{}': is being resized from {} to {}", name,
               format_size(exported->spec().size), format_size(size));
  exported->editions().on_unused(lifetime_.guard(
      [this, name] { asio::post(io_, lifetime_.guard([this, name] { clear_away(name); })); }));
  const auto job = jobs_.emplace(jobs_.end(), io_, *exported, size, std::move(done));
  turns_.take(*exported, [this, job] { begin(job); });
}

/// Its turn has come.
void Resizer::begin(Jobs::iterator job) {
  std::vector<ExportSpec> specs;
  for (const auto& one : exports_.all()) {
    specs.push_back(one->spec());
    if (one.get() == &job->exported) specs.back().size = job->size;
  }
  const std::size_t devices = std::max<std::size_t>(1, job->exported.device_count());
  background_.run(
      [this, &job = *job, specs = std::move(specs), devices] { prepare(job, specs, devices); },
      [this, job] { on_prepared(job); });
}

std::optional<std::string> Resizer::reason_against(const Export& exported,
                                                   std::uint64_t size) const {
  if (std::any_of(jobs_.begin(), jobs_.end(),
                  [&](const Job& job) { return &job.exported == &exported; })) {
    return "it is being resized already; try again when that is done";
  }
  if (auto why = exported.refuse_size(size)) return why;
  return reason_of_the_deaf(exported, size);
}

/// Initiators that cannot be told would use what is cut off.
std::optional<std::string> Resizer::reason_of_the_deaf(const Export& exported,
                                                       std::uint64_t size) const {
  const std::size_t deaf = sessions_.count_deaf(exported.spec().name, size);
  if (deaf == 0) return std::nullopt;
  return fmt::format(
      "{} {} of initiators of an older version that cannot be told: unmount {} there first",
      counted(deaf, "attachment"), deaf == 1 ? "is" : "are", deaf == 1 ? "it" : "them");
}

/// On another thread.
void Resizer::prepare(Job& job, std::vector<ExportSpec> specs, std::size_t devices) const noexcept {
  try {
    ExportSpec spec = job.exported.spec();
    const std::uint64_t added = job.size > spec.size ? job.size - spec.size : 0;
    spec.size = job.size;
    if (added > 0) check_growth(spec, added, specs, devices);
    job.exported.prepare_resize(job.size);
  } catch (const std::exception& error) {
    job.failure =
        fmt::format("export '{}' cannot be resized: {}", job.exported.spec().name, error.what());
  }
}

void Resizer::on_prepared(Jobs::iterator job) {
  if (!job->failure.empty()) {
    turns_.end(job->exported);
    return end(job, job->failure);
  }
  // One may have come meanwhile.
  if (const auto why = reason_of_the_deaf(job->exported, job->size)) {
    return abandon(
        job, fmt::format("export '{}' cannot be resized: {}", job->exported.spec().name, *why));
  }
  publish(job);
}

void Resizer::abandon(Jobs::iterator job, std::string failure) {
  job->failure = std::move(failure);
  background_.run([&job = *job] { job.exported.abandon_resize(); },
                  [this, job] {
                    turns_.end(job->exported);
                    end(job, job->failure);
                  });
}

void Resizer::publish(Jobs::iterator job) {
  Export& exported = job->exported;
  const bool shrinks = job->size < exported.spec().size;
  exported.publish_resize();
  exports_.update_offers(exported);
  turns_.end(exported);
  sessions_.announce_size(exported.spec().name);
  if (!shrinks) {
    const std::string name = exported.spec().name;
    end(job, std::nullopt);
    return clear_away(name);
  }
  wait_for_users(job);
}

void Resizer::wait_for_users(Jobs::iterator job) {
  job->waits = true;
  job->deadline.expires_after(patience_);
  const std::string name = job->exported.spec().name;
  job->deadline.async_wait(lifetime_.guard([this, name](const asio::error_code& error) {
    if (!error) on_deadline(name);
  }));
  clear_away(name);
}

void Resizer::on_deadline(const std::string& name) {
  const auto job = waiting(name);
  // One that had expired already when it was cancelled may have been another's.
  if (job == jobs_.end() || job->deadline.expiry() > std::chrono::steady_clock::now()) return;
  sessions_.expel_slow(name, job->size);
}

/// The job of an export that waits for its users.
Resizer::Jobs::iterator Resizer::waiting(const std::string& name) {
  return std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& one) {
    return one.waits && one.exported.spec().name == name;
  });
}

/// Destroys the editions that nobody uses any more: that deregisters memory, which takes long.
void Resizer::clear_away(const std::string& name) {
  Export* const exported = exports_.find(name);
  if (exported == nullptr) return;
  auto unused = exported->editions().take_unused();
  if (unused.empty()) return on_cleared(name);
  const auto clearing = clearing_.insert(clearing_.end(), exported);
  auto editions = std::make_shared<std::vector<std::unique_ptr<Edition>>>(std::move(unused));
  background_.run([editions] { editions->clear(); },
                  [this, clearing, name] {
                    clearing_.erase(clearing);
                    on_cleared(name);
                  });
}

void Resizer::on_cleared(const std::string& name) {
  const auto job = waiting(name);
  if (job == jobs_.end() || job->exported.editions().has_larger()) return;
  const bool is_being_cleared =
      std::find(clearing_.begin(), clearing_.end(), &job->exported) != clearing_.end();
  if (!is_being_cleared) cut(job);
}

void Resizer::cut(Jobs::iterator job) {
  job->waits = false;
  job->deadline.cancel();
  const auto work = [&job = *job] {
    try {
      job.exported.cut();
    } catch (const std::exception& error) {
      job.failure = fmt::format(
          "export '{}' has {} for its initiators, but what is behind them was not given back: {}",
          job.exported.spec().name, format_size(job.size), error.what());
    }
  };
  background_.run(work, [this, job] {
    end(job, job->failure.empty() ? std::nullopt : std::optional(job->failure));
  });
}

void Resizer::end(Jobs::iterator job, std::optional<std::string> failure) {
  const Done done = std::move(job->done);
  if (failure) {
    spdlog::error("{}", *failure);
  } else {
    spdlog::info("export '{}': resized to {}", job->exported.spec().name, format_size(job->size));
  }
  jobs_.erase(job);
  done(std::move(failure));
}

bool Resizer::is_busy(const Export& exported) const noexcept {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const Job& job) { return &job.exported == &exported; }) ||
         std::find(clearing_.begin(), clearing_.end(), &exported) != clearing_.end();
}

void Resizer::finish() {
  const auto work = asio::make_work_guard(io_);
  while (!is_idle()) {
    io_.restart();
    io_.run_one();
  }
}

}  // namespace rdmablk::target
