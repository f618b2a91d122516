#pragma once

namespace rdmablk::target {

/// What keeps an old connection's writes away from an export that somebody else uses by now. All of
/// it is always on; a test program that shows what happens without links a definition of its own.
struct Fencing {
  bool destroys_queue_pairs = true;  ///< the old queue pairs, before new ones are accepted
  bool drains_files = true;          ///< waits for what was begun on the export's file
  bool checks_leases = true;         ///< refuses a writer whose lease was given to another
};

const Fencing& fencing() noexcept;

}  // namespace rdmablk::target
