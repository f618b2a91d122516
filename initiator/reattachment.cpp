#include "initiator/reattachment.h"

namespace rdmablk::initiator {

std::optional<std::string> difference(const protocol::AttachReply& before,
                                      const protocol::AttachReply& now) {
  const protocol::ExportInfo& was = before.info;
  const protocol::ExportInfo& is = now.info;
  if (is.uuid != was.uuid) return "the target has another export of that name now";
  if (is.kind != was.kind) return "it is of another kind now";
  if (now.access != before.access) return "the target grants another access now";
  if (now.lease != before.lease) return "the lease to write it was given to another since";
  return std::nullopt;
}

}  // namespace rdmablk::initiator
