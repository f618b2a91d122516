#pragma once

#include <deque>
#include <functional>
#include <map>

namespace rdmablk::target {

class Export;

/// What changes the registrations of an export takes turns: its coming to a device, its leaving
/// one, the preparation of another size. Used by the control thread.
class ExportTurns {
 public:
  ExportTurns() = default;
  ExportTurns(const ExportTurns&) = delete;
  ExportTurns& operator=(const ExportTurns&) = delete;

  /// Has `begin` called when nobody before has a turn any more, at once when nobody has. end()
  /// follows, once.
  void take(const Export& exported, std::function<void()> begin);

  /// Begins the next turn, from within.
  void end(const Export& exported);

 private:
  std::map<const Export*, std::deque<std::function<void()>>> turns_;  ///< the first one has it
};

}  // namespace rdmablk::target
