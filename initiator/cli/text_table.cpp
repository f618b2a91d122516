#include "initiator/cli/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace rdmablk::cli {

std::string TextTable::cell(const std::vector<std::string>& row, std::size_t column,
                            std::size_t width) const {
  const bool right = std::find(right_.begin(), right_.end(), column) != right_.end();
  return right ? fmt::format("{:>{}}", row[column], width)
               : fmt::format("{:<{}}", row[column], width);
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += "  ";
      line += cell(row, i, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace rdmablk::cli
