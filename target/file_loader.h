#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "target/backing_file.h"

namespace rdmablk::target {

/// Reads a whole file into memory, several pieces at a time; leaves out what is not stored.
/// @param memory of the file's size, at the start of a page, and zero.
/// @param progress called now and then with how many bytes of the file are done with; what it
/// throws ends the loading.
/// @return bytes that were left out. Throws SystemError.
std::uint64_t load_file(const BackingFile& file, std::span<std::byte> memory,
                        const std::function<void(std::uint64_t)>& progress);

}  // namespace rdmablk::target
