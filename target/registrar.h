#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/background.h"
#include "target/export_turns.h"
#include "target/export_use.h"
#include "target/exports.h"

namespace rdmablk::target {

/// Registers exports with devices when somebody wants to use them there, and takes them back from
/// devices that are gone. Both take long, and are done on other threads. Used by the control
/// thread.
class Registrar {
 public:
  /// @param failure why it was not done, for people; nothing: it is done.
  using Done = std::function<void(const std::optional<std::string>& failure)>;

  /// All outlive this.
  Registrar(asio::io_context& io, Exports& exports, ExportTurns& turns);
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  /// Null when it is none of the target's.
  std::shared_ptr<const TargetDevice> find_device(const ibv_context* device) const noexcept {
    return exports_.find_device(device);
  }

  /// Has an export registered with a device of the target. Those who want the same wait together.
  /// @param done called from the event loop, not from within.
  void want(const std::string& export_name, ibv_context* device, Done done);

  /// Takes the registrations of all exports back from a device that the target does not have any
  /// more.
  void drop(ibv_context* device);

  /// Runs the event loop until nothing is under way. When no session is left.
  void finish();

 private:
  /// An export that is being registered with a device, and who waits for that.
  struct Job {
    Export* exported;
    ExportUse::Hold hold;  ///< it stays
    std::shared_ptr<const TargetDevice> device;
    std::vector<Done> done;
    std::unique_ptr<Export::DeviceMemory> made{};
    std::string failure{};
  };
  using Jobs = std::list<Job>;

  bool is_there(Job& job) const;
  void begin(Jobs::iterator job);
  void on_made(Jobs::iterator job);
  void end(Jobs::iterator job);

  asio::io_context& io_;
  Exports& exports_;
  ExportTurns& turns_;
  Jobs jobs_;
  std::size_t drops_ = 0;  ///< under way
  Lifetime lifetime_;
  Background background_;  // ends before what it works on
};

}  // namespace rdmablk::target
