#pragma once

#include <cstddef>
#include <span>

#include "target/export_spec.h"

namespace rdmablk::target {

/// Checks, before anything is served, that a file can be made beside `spec.save`: finding out at
/// the end would be too late. Throws Error.
void check_save_place(const ExportSpec& spec);

/// Reads what save_memory() has written, showing how far it has come.
/// @param spec a memory export, with `save`. @param memory of its size, zero. Throws Error, also
/// when the file is of another size.
void load_saved_memory(const ExportSpec& spec, std::span<std::byte> memory);

/// Writes memory to the file `spec.save`, on stable storage, zeroes as holes, showing how far it
/// has come. The file that was there stays as it is until the new one is complete. Logs what fails.
/// @return whether it is there.
bool save_memory(const ExportSpec& spec, std::span<const std::byte> memory) noexcept;

}  // namespace rdmablk::target
