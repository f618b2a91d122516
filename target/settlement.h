#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "target/export.h"

namespace rdmablk::target {

/// Brings, at the end, to stable storage what was written to the files of exports, and what
/// resident ones hold in memory alone: all at a time, while the event loop goes on. When no session
/// and no queue is left.
/// @param io a stopped event loop of the calling thread; somebody else may stop it meanwhile.
/// @return the exports whose files do not hold everything.
std::vector<const Export*> settle(std::span<const std::unique_ptr<Export>> exports,
                                  asio::io_context& io);

/// Notes, once everything else is done, that those which are not among the unsettled have lost
/// nothing. Logs what cannot be noted.
void mark_clean(std::span<const std::unique_ptr<Export>> exports,
                std::span<const Export* const> unsettled);

/// What to tell the administrator about them, in one line.
std::string describe_unsettled(std::span<const Export* const> exports);

}  // namespace rdmablk::target
