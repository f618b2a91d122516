#pragma once

#include <cstddef>
#include <span>

#include "target/export_spec.h"
#include "target/save_place.h"

namespace rdmablk::target {

class Cancellation;

/// Reads what save_memory() has written, showing how far it has come.
/// @param spec a memory export, with `save`. @param memory of its size, zero. Throws Error, also
/// when the file is of another size.
/// @param cancellation ends it early; null: nothing does.
void load_saved_memory(const ExportSpec& spec, std::span<std::byte> memory,
                       const Cancellation* cancellation = nullptr);

/// Writes memory to the file `spec.save`, on stable storage, zeroes as holes, showing how far it
/// has come. The file that was there stays as it is until the new one is complete. Logs what fails.
/// @param place of the spec; of no use after that. @return whether the memory is in the file.
bool save_memory(const ExportSpec& spec, std::span<const std::byte> memory,
                 SavePlace& place) noexcept;

}  // namespace rdmablk::target
