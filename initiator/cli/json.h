#pragma once

#include <nlohmann/json.hpp>

namespace rdmablk::cli {

/// Keys stay in the order in which they are set, as people read them.
using Json = nlohmann::ordered_json;

/// An object of the form that all commands print: its first key is the version of the form.
Json new_document();

/// Prints a document on standard output.
void print_json(const Json& document);

}  // namespace rdmablk::cli
