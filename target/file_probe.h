#pragma once

#include <string>

#include "target/export_spec.h"

namespace rdmablk::target {

/// Looks whether this process may serve the file of an export, as BackingFile would find it, and
/// makes, changes and locks nothing. That another process uses it is no fault. Throws Error.
/// @return what was found, for people: "its file /srv/a can be read and written".
std::string probe_export_file(const ExportSpec& spec);

/// The same of the file that memory is saved to.
std::string probe_save_file(const ExportSpec& spec);

/// Whether this process may make files in a directory. Throws Error, which says why not.
/// @param doing what for: "make '/srv/a'".
void check_writable_directory(const std::string& path, const std::string& doing);

}  // namespace rdmablk::target
