#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::target {

/// Sends a line, and descriptors with it. Blocks. @return 0 or an errno value.
int send_line(int socket, std::string_view line, const std::vector<int>& descriptors = {}) noexcept;

/// A line that has come, and the descriptors that came with it.
struct ReceivedLine {
  std::string text;
  std::vector<UniqueFd> descriptors;
};

/// Receives a line, and nothing behind it. Blocks.
/// @param limit bytes. @return nothing at the end, and for what is longer or cannot be received.
std::optional<ReceivedLine> receive_line(int socket, std::size_t limit);

}  // namespace rdmablk::target
