#include "common/export_name.h"

#include <algorithm>

namespace rdmablk {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_export_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxExportName || !is_alphanumeric(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace rdmablk
