#pragma once

#include <string>

#include "initiator/cli/json.h"
#include "initiator/copy/transfer.h"

namespace rdmablk::copy {

/// What is done to what becomes zeroes.
inline constexpr const char* kZeroed = "zeroed";

/// What was done, for people, on one line: "64 MiB copied, 12 MiB of that zeroes, in 0.31 s ...".
/// @param done "copied", "filled", kZeroed.
std::string transfer_text(const std::string& done, const TransferResult& result);

/// Adds what was done to a document of `--json`.
void add_transfer(cli::Json& document, const TransferResult& result);

}  // namespace rdmablk::copy
