#pragma once

#include "target/patience.h"

namespace rdmablk::target {

/// What came of an attempt to lock a file.
enum class LockOutcome { locked, held, unsupported };

/// Locks a file for an open descriptor, in both ways that programs look at: fcntl(2) F_OFD_SETLK
/// over the whole file, and flock(2). The locks last until the last duplicate of the descriptor
/// is closed and the last I/O on it is done. Blocks while another holds one, as `patience` has it.
/// @param shared with others that share. Throws SystemError.
LockOutcome lock_file(int fd, bool shared, const Patience& patience);

/// Whether lock_file() could lock a file now: looks, and locks nothing. Throws SystemError.
/// @return LockOutcome::locked: it could.
LockOutcome probe_lock(int fd, bool shared);

}  // namespace rdmablk::target
