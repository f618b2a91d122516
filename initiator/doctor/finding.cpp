#include "initiator/doctor/finding.h"

namespace rdmablk::doctor {

const char* verdict_name(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warning:
      return "warning";
    case Verdict::failure:
      return "failure";
    case Verdict::skipped:
      return "skipped";
  }
  return "unknown";
}

}  // namespace rdmablk::doctor
