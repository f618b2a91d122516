#pragma once

#include <string>
#include <vector>

namespace rdmablk::cli {

/// Rows of text for people, in columns that are as wide as they must be.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heading) { add(std::move(heading)); }

  /// @param row as many cells as the heading has.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  /// Marks a column of numbers, whose cells end in line.
  void align_right(std::size_t column) { right_.push_back(column); }

  /// A line for each row, without spaces at its end.
  std::string text() const;

 private:
  std::string cell(const std::vector<std::string>& row, std::size_t column,
                   std::size_t width) const;

  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> right_;
};

}  // namespace rdmablk::cli
