#pragma once

#include "fuse/slot.h"

namespace rdmablk::fuse {

/// Answers the request in a slot, whose operation has ended, and is not map. On the thread of the
/// worker that read it; nothing is left to be answered then.
void reply(Slot& slot) noexcept;

/// Answers it with an error, whatever it is. @param error an errno value.
void reply_error(Slot& slot, int error) noexcept;

/// Answers lseek(2), whose map has come. The end of the image counts as a hole.
/// @return false when the map ends before anything was found: the slot says where to look on, and
/// is to be submitted again.
bool reply_to_seek(Slot& slot) noexcept;

}  // namespace rdmablk::fuse
