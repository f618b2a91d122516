#include "initiator/copy/failure_text.h"

#include <fmt/format.h>

#include <cerrno>

#include "common/error.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;

const char* verb(Operation operation) {
  switch (operation) {
    case Operation::read:
      return "read";
    case Operation::write:
      return "write";
    case Operation::zero:
      return "zero";
    case Operation::discard:
      return "discard";
    case Operation::flush:
      return "flush";
    case Operation::map:
      return "map";
  }
  return "use";
}

}  // namespace

/// What is known of a connection that is lost, as part of a sentence.
std::string loss_of(const Endpoint& end) {
  if (end.session() == nullptr) return {};
  const auto state = end.session()->state();
  if (state.phase == initiator::SessionState::Phase::connected) return {};
  const std::string& why = state.last_error.empty() ? state.reason : state.last_error;
  return fmt::format(": the target is away{}{}", why.empty() ? "" : ": ", why);
}

std::string failure_text(const Failure& failure, const Endpoint& source,
                         const Endpoint& destination, const TransferRange& range) {
  const bool is_source = failure.side == Side::source;
  const Endpoint& end = is_source ? source : destination;
  if (failure.error == EFBIG && source.is_stream() && destination.has_fixed_size()) {
    return fmt::format("{} has more than the {} bytes that there are in {} from offset {} on",
                       source.name(), destination.size() - range.destination_offset,
                       destination.name(), range.destination_offset);
  }
  const std::string why = failure.error == ENODATA && is_source ? "it has become shorter meanwhile"
                                                                : errno_text(failure.error);
  return fmt::format("cannot {} {} bytes at offset {} of {}: {}{}", verb(failure.operation),
                     failure.length, failure.offset, end.name(), why, loss_of(end));
}

}  // namespace rdmablk::copy
