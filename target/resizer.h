#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/lifetime.h"
#include "target/administration.h"
#include "target/background.h"
#include "target/export_turns.h"
#include "target/exports.h"
#include "target/sessions.h"

namespace rdmablk::target {

/// Gives exports of a running target other sizes, any number at a time. What blocks is done on
/// other threads. Used by the control thread.
///
/// To grow: memory, file and chunk tables are made first, and then offered and told of. To shrink:
/// smaller tables are offered and told of; when nobody uses a larger one any more they are
/// deregistered, and then what they named is given back.
class Resizer {
 public:
  using Done = Administration::Done;

  /// @param patience for initiators to be through with what is cut off. All outlive this.
  Resizer(asio::io_context& io, Exports& exports, Sessions& sessions, ExportTurns& turns,
          std::chrono::milliseconds patience);
  Resizer(const Resizer&) = delete;
  Resizer& operator=(const Resizer&) = delete;

  /// See Administration::resize_export().
  void resize(const std::string& name, std::uint64_t size, Done done);

  /// Whether an export is being resized, or what is left of an earlier size is cleared away: it
  /// must stay.
  bool is_busy(const Export& exported) const noexcept;

  /// Whether nothing is under way.
  bool is_idle() const noexcept { return jobs_.empty() && clearing_.empty(); }

  /// The target ends: nothing new is begun.
  void stop() noexcept { stopping_ = true; }

  /// Runs the event loop until nothing is under way. Behind stop(), when no session is left.
  void finish();

 private:
  struct Job {
    Job(asio::io_context& io, Export& which, std::uint64_t bytes, Done told)
        : exported(which), size(bytes), done(std::move(told)), deadline(io) {}

    Export& exported;
    std::uint64_t size;
    Done done;
    asio::steady_timer deadline;
    bool waits = false;   ///< for nobody to use a larger edition
    std::string failure;  ///< of the other thread; empty: none
  };
  using Jobs = std::list<Job>;

  std::optional<std::string> reason_against(const Export& exported, std::uint64_t size) const;
  std::optional<std::string> reason_of_the_deaf(const Export& exported, std::uint64_t size) const;
  void begin(Jobs::iterator job);
  void prepare(Job& job, std::vector<ExportSpec> specs, std::size_t devices) const noexcept;
  void on_prepared(Jobs::iterator job);
  void abandon(Jobs::iterator job, std::string failure);
  void publish(Jobs::iterator job);
  void wait_for_users(Jobs::iterator job);
  void on_deadline(const std::string& name);
  Jobs::iterator waiting(const std::string& name);
  void clear_away(const std::string& name);
  void on_cleared(const std::string& name);
  void cut(Jobs::iterator job);
  void end(Jobs::iterator job, std::optional<std::string> failure);

  asio::io_context& io_;
  Exports& exports_;
  Sessions& sessions_;
  ExportTurns& turns_;
  std::chrono::milliseconds patience_;
  bool stopping_ = false;
  Jobs jobs_;
  std::list<const Export*> clearing_;  ///< exports of which editions are being destroyed
  Lifetime lifetime_;
  Background background_;  // ends before what it works on
};

}  // namespace rdmablk::target
