#pragma once

#include <cstdint>
#include <string>

#include "target/export_spec.h"

namespace rdmablk::target {

/// What was found of a file.
struct ProbedFile {
  std::string text;             ///< for people: "its file /srv/a can be read and written"
  std::uint64_t size = 0;       ///< bytes that it has, or would get
  std::uint32_t alignment = 1;  ///< see BackingFile; as far as it is known
};

/// Looks whether this process may serve the file of an export, as BackingFile would find it, and
/// makes, changes and locks nothing. That another process uses it is no fault. Throws Error.
ProbedFile probe_export_file(const ExportSpec& spec);

/// The same of the file that memory is saved to, and whether what is in it fits. @return for
/// people.
std::string probe_save_file(const ExportSpec& spec);

/// Whether this process may make files in a directory. Throws Error, which says why not.
/// @param doing what for: "make '/srv/a'".
void check_writable_directory(const std::string& path, const std::string& doing);

}  // namespace rdmablk::target
