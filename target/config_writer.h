#pragma once

#include <string>

#include "target/export_spec.h"

namespace rdmablk::target {

/// An export as a configuration file has it: the table [export.NAME]. Throws Error when it cannot
/// be written so that it is read as the same: its paths are no text.
std::string export_text(const ExportSpec& spec);

}  // namespace rdmablk::target
