#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "common/numa.h"

namespace rdmablk::target {

/// What is called for a piece of memory: its number, from 0 on, and where it lies.
using PieceCall = std::function<void(std::size_t, std::span<std::byte>)>;

/// Calls once for each piece of an export's memory: allocating and registering it take time that
/// grows with its size, and pieces can be worked on by several threads. There are as many as the
/// calling thread may use processors (of the node, when one is given, where they stay then), and no
/// more than are worth it; with one piece, little memory or one processor all is done on the
/// calling thread. They have ended when this returns. Where no more threads can be made, those that
/// there are do the work.
/// @param piece bytes of all but the last one; pieces are begun in order.
/// @param node near which the memory is to be.
/// Throws what the first call to fail has thrown; pieces that nobody had begun are left out then.
void for_each_piece(std::span<std::byte> memory, std::uint64_t piece, std::optional<int> node,
                    const PieceCall& call, const std::filesystem::path& sysfs = kSysfs);

}  // namespace rdmablk::target
