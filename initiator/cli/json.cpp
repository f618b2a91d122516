#include "initiator/cli/json.h"

#include <fmt/format.h>

namespace rdmablk::cli {

Json new_document() {
  constexpr int kVersion = 1;
  return Json{{"version", kVersion}};
}

void print_json(const Json& document) {
  // The other end's texts are checked where they are decoded; should one be no UTF-8, it is shown
  // with a replacement rather than refused.
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace rdmablk::cli
