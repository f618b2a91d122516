#pragma once

#include <infiniband/verbs.h>

#include <cerrno>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// How often a device may refuse a request before it counts as wrong.
inline constexpr unsigned kMaxRefusals = 3;

/// Whether a status says that it was this work request that a device would not do, rather than
/// that the connection was lost.
inline bool is_refusal(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
      return true;
    default:
      return false;
  }
}

/// Whether devices refused work requests of a request so often that it is wrong.
inline bool was_refused(const Request& request) noexcept {
  return request.progress.refusals >= kMaxRefusals;
}

/// Notes that a device refused a work request of a request: posted anew for ever, it would bring
/// down one connection after another. Once is no proof, as the target may just have gone away.
inline void note_refusal(Request& request, ibv_wc_status status) noexcept {
  if (!is_refusal(status)) return;
  ++request.progress.refusals;
  if (was_refused(request)) request.error = EIO;
}

}  // namespace rdmablk::initiator
